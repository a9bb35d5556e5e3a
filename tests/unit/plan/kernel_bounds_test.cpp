// Fast kernels step by step: each is within its own bound of the reference, and a wrong one is not.
#include "plan/kernel_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../interp/module_text.hpp"
#include "../interp/page_examples.hpp"
#include "interp/divergence.hpp"

namespace mir::test::kernel_bounds_of {

namespace {

/// A module by both sets of kernels, compared over one run.
class BothSets {
 public:
  explicit BothSets(const std::string& text, IsaLevel isa = detected_isa_level(),
                    Activations activations = Activations::kFloat32)
      : text_(text) {
    WeightSet weights;
    REQUIRE(weights.add("random:1"));
    SessionOptions options;
    options.weights = &weights;
    options.isa = isa;
    options.activations = activations;
    reference_ = Session::create(*text_.module, options, problems_);
    options.kernels = KernelSet::kFast;
    fast_ = Session::create(*text_.module, options, problems_);
    REQUIRE(reference_);
    REQUIRE(fast_);
    auto search = search_beyond_bounds(*reference_, *fast_, activations, {}, problems_);
    REQUIRE(search);
    search_ = *std::move(search);
  }

  /// Runs on random inputs; `harm` changes results of fast kernels. The error; empty: none.
  std::string run(const std::function<void(const StepResults&)>& harm = {}) {
    RunOptions options;
    for (const char* symbol : {"S", "T", "N"}) options.dims.bind(text_.context.intern(symbol), 7);
    options.dims.bind(text_.context.intern("past"), 0);
    options.observe = [&](const StepResults& step) {
      if (harm) harm(step);
      return search_->observe(step);
    };
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < fast_->inputs().size(); ++i)
      arguments.push_back(fmt::format("{}=random:{}", i, i));
    const auto inputs = load_inputs(*fast_, arguments, options.dims);
    REQUIRE(inputs);
    REQUIRE(search_->begin(0, 0, *inputs));
    const bool good = fast_->run(*inputs, problems_, options).has_value() && search_->end();
    const auto errors = errors_of(problems_);
    CHECK(good == errors.empty());
    return errors.empty() ? std::string() : errors.front();
  }

  const AgreementCounts& counts() const { return search_->counts(); }

 private:
  Text text_;
  Diagnostics problems_;
  std::optional<Session> reference_, fast_;
  std::unique_ptr<DivergenceSearch> search_;
};

/// A Linear, a product with a transposed operand, functions, norms, a sum, one after the other.
const char* const kChain = R"(
@main [mir_version:1] (%x:tensor<[$S, 64], Float32, CPU>) -> (%9:tensor<[$S], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%w:tensor<[48, 64], WEIGHT, CPU>[@fc.weight])[symbol:fc.weight]
      tensor.CPU.register () -> (%b:tensor<[48], Float32, CPU>[@fc.bias])[symbol:fc.bias]
      tensor.CPU.register () -> (%n:tensor<[48], Float32, CPU>[@norm.weight])[symbol:norm.weight]
    }
  }
  linalg.CPU.LinearOp <name="fc"> [in_channels:64, out_channels:48, bias:true] (%x:tensor<[$S, 64], Float32, CPU>) -> (%1:tensor<[$S, 48], Float32, CPU>)
  linalg.CPU.RMSNormOp <name="norm"> [epsilon:1e-06] (%1:tensor<[$S, 48], Float32, CPU>) -> (%2:tensor<[$S, 48], Float32, CPU>)
  linalg.CPU.GELUOp (%2:tensor<[$S, 48], Float32, CPU>) -> (%3:tensor<[$S, 48], Float32, CPU>)
  linalg.CPU.AddOp (%3:tensor<[$S, 48], Float32, CPU>, %1:tensor<[$S, 48], Float32, CPU>) -> (%4:tensor<[$S, 48], Float32, CPU>)
  linalg.CPU.MatMulOp [transpose_b:true] (%4:tensor<[$S, 48], Float32, CPU>, %4:tensor<[$S, 48], Float32, CPU>) -> (%5:tensor<[$S, $S], Float32, CPU>)
  linalg.CPU.SoftmaxOp [axis:-1] (%5:tensor<[$S, $S], Float32, CPU>) -> (%6:tensor<[$S, $S], Float32, CPU>)
  linalg.CPU.ReduceSumOp [dim:-1, keep_dim:false] (%6:tensor<[$S, $S], Float32, CPU>) -> (%9:tensor<[$S], Float32, CPU>)
  cf.ReturnOp (%9:tensor<[$S], Float32, CPU>) -> ()
}
)";

std::string chain(std::string_view weight = "Float32") {
  std::string text = kChain;
  return text.replace(text.find("WEIGHT"), 6, weight);
}

}  // namespace

TEST_CASE("every fast kernel of the pages' examples is within its bound at every instruction set") {
  std::size_t off = 0;
  for (const PageExample& example : page_examples()) {
    CAPTURE(example.page);
    for (const IsaLevel isa : isa_levels()) {
      if (isa > detected_isa_level()) break;
      CAPTURE(name_of(isa));
      BothSets both(example.text, isa);
      CHECK(both.run().empty());
      off += both.counts().within_tolerance;
    }
  }
  CHECK(off > 20);  // not all the same bits
}

TEST_CASE("products are within their bound with weights of every form, and in BFloat16") {
  for (const char* weight : {"Float32", "Float16", "BFloat16", "Q8_0", "Q4_0", "Q4_1"}) {
    CAPTURE(weight);
    const std::string type = weight[0] == 'Q' ? fmt::format("GGUF_{}", weight) : weight;
    CHECK(BothSets(chain(type)).run().empty());
  }
  CHECK(BothSets(chain(), detected_isa_level(), Activations::kBFloat16).run().empty());
}

TEST_CASE("a kernel that is a little wrong is found at its op") {
  struct Harm {
    OpId op;
    float factor;
  };
  // A few times what the kernels may be off, relative to results of the same signs.
  const Harm harms[] = {{OpId::kLinalgLinear, 1e-2F},   {OpId::kLinalgRMSNorm, 1e-5F},
                        {OpId::kLinalgGELU, 1e-4F},     {OpId::kLinalgAdd, 2e-7F},
                        {OpId::kLinalgMatMul, 1e-3F},   {OpId::kLinalgSoftmax, 3e-5F},
                        {OpId::kLinalgReduceSum, 1e-6F}};
  for (const Harm& each : harms) {
    BothSets both(chain());
    const std::string error = both.run([&](const StepResults& step) {
      if (!step.op.is(each.op)) return;
      const auto elements = step.results[0].as_mutable<float>();
      const auto largest =
          std::ranges::max_element(elements, {}, [](float x) { return std::fabs(x); });
      *largest *= 1 + each.factor;
    });
    CAPTURE(error);
    CHECK(error.find("is the first op whose operands agree") != error.npos);
    CHECK(error.find("are beyond the bound of the fast kernel") != error.npos);
  }
}

}  // namespace mir::test::kernel_bounds_of

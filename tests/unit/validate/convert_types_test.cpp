// Modules in another floating-point type.
#include <fmt/format.h>

#include <cmath>

#include "../interp/page_examples.hpp"
#include "../ir/read.hpp"
#include "../numeric.hpp"
#include "interp/summary.hpp"
#include "mir/pass.hpp"
#include "mir/rewriter.hpp"
#include "mir/session.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"
#include "weights/elements.hpp"

using namespace mir;
using Lines = std::vector<std::string>;
using mir::test::Reading;

namespace convert_types_test {

namespace {

Lines run_passes(Module& module, std::string_view pipeline) {
  PassRegistry registry;
  register_standard_passes(registry);
  const SourceFile* file = module.context().sources().add("pipeline", std::string(pipeline));
  Diagnostics found;
  const auto passes = registry.read_pipeline(*file, found);
  REQUIRE(passes);
  const PipelineRun how{
      .verify = [](Module& each, Diagnostics& diagnostics) { return verify(each, diagnostics); }};
  CHECK(run_pipeline(module, *passes, how, found) != found.has_errors());
  return test::lines_of(found, module.context());
}

/// Outputs of a module on inputs made by `random`, which integers in [0, bound) are drawn for.
std::vector<Tensor> outputs_of(const Module& module, KernelSet kernels,
                               const std::vector<Tensor>* inputs = nullptr) {
  WeightSet weights;
  REQUIRE(weights.add("random:1"));
  SessionOptions options;
  options.weights = &weights;
  options.kernels = kernels;
  Diagnostics found;
  auto session = Session::create(module, options, found);
  for (const Diagnostic& each : found.sorted()) MESSAGE(each.message);
  REQUIRE(session);
  RunOptions how;
  for (const char* symbol : {"S", "T", "N"}) {
    how.dims.bind(module.context().intern(symbol), 4);
  }
  how.dims.bind(module.context().intern("past"), 0);
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < session->inputs().size(); ++i) {
    arguments.push_back(fmt::format("{0}=random:{0}", i));
  }
  const auto drawn = inputs != nullptr ? Result<std::vector<Tensor>>(*inputs)
                                       : load_inputs(*session, arguments, how.dims);
  REQUIRE(drawn);
  auto outputs = session->run(*drawn, found, how);
  for (const Diagnostic& each : found.sorted()) MESSAGE(each.message);
  REQUIRE(outputs);
  return *std::move(outputs);
}

/// One op between inputs and an output of a type.
std::string module_of(std::string_view op) {
  return fmt::format(
      "@main [mir_version:1] (%x:tensor<[4, 8], Float32, CPU>, %y:tensor<[4, 8], Float32, CPU>) -> "
      "(%z:tensor<[4, 8], Float32, CPU>) {{\n"
      "    graph.SubGraphOp @init <notype> {{\n        () -> () {{\n"
      "            tensor.CPU.register () -> (%w:tensor<[8, 8], Float32, CPU>[@f.weight])[symbol:"
      "f.weight]\n"
      "            tensor.CPU.register () -> (%v:tensor<[8], Float32, CPU>[@g.weight])[symbol:"
      "g.weight]\n        }}\n    }}\n"
      "    {}\n    cf.ReturnOp (%z) -> ()\n}}\n",
      op);
}

/// Numbers that every type of 8 significant bits holds.
Tensor inputs_of(DType dtype, int seed) {
  auto tensor = Tensor::allocate(DType::kFloat32, {4, 8});
  for (float& each : tensor->as_mutable<float>()) {
    each = static_cast<float>((seed = (seed * 75 + 74) % 257) - 128) / 32;
  }
  auto made = convert_floats(*tensor, dtype);
  REQUIRE(made);
  return *std::move(made);
}

}  // namespace

TEST_SUITE("conversion of types") {
  TEST_CASE("a converted value is the nearest number to what its op yields") {
    for (const std::string_view op :
         {"linalg.CPU.AddOp(%x, %y) -> (%z)", "linalg.CPU.DivOp(%x, %y) -> (%z)",
          "linalg.CPU.ExpOp(%x) -> (%z)", "linalg.CPU.SiLUOp(%x) -> (%z)",
          "linalg.CPU.SoftmaxOp [axis:-1](%x) -> (%z)",
          "linalg.CPU.LinearOp <name=\"f\"> [in_channels:8, out_channels:8, bias:false](%x) -> "
          "(%z)",
          "linalg.CPU.RMSNormOp <name=\"g\"> [epsilon:1e-6](%x) -> (%z)",
          "linalg.CPU.AddOp(%x, %c:tensor<[1], Float32, CPU>[constant:[0.25]]) -> (%z)"}) {
      struct Target {
        const char* name;
        DType dtype;
        double unit, least;
      };
      for (const Target& to : {Target{"BFloat16", DType::kBFloat16, 0x1p-8, 0x1p-134},
                               Target{"Float16", DType::kFloat16, 0x1p-11, 0x1p-25}}) {
        CAPTURE(std::string(op));
        CAPTURE(to.name);
        Reading before(module_of(op)), after(module_of(op));
        CHECK(run_passes(after.module(),
                         fmt::format("convert-types{{to={},scope=values,interface}}", to.name)) ==
              Lines{});
        CHECK(print(after.module()).find("Cast") == std::string::npos);
        const std::vector<Tensor> wide = {inputs_of(DType::kFloat32, 1),
                                          inputs_of(DType::kFloat32, 2)};
        const std::vector<Tensor> narrow = {inputs_of(to.dtype, 1), inputs_of(to.dtype, 2)};
        const Tensor expected = outputs_of(before.module(), KernelSet::kRef, &wide).front();
        const Tensor found = outputs_of(after.module(), KernelSet::kRef, &narrow).front();
        REQUIRE(found.dtype() == to.dtype);
        const auto number = [](const Tensor& tensor) {
          return [&tensor](std::size_t i) {
            return element_as_double(tensor, static_cast<std::int64_t>(i));
          };
        };
        // The Float32 that is compared with has been rounded, too.
        CHECK(test::beyond_bounds(
                  static_cast<std::size_t>(expected.elements()),
                  [&](std::size_t i) { return std::fabs(number(found)(i) - number(expected)(i)); },
                  number(found), number(expected),
                  [&](std::size_t i) {
                    return to.unit * std::fabs(number(expected)(i)) * (1 + 0x1p-12) + to.least;
                  }) == "");
      }
    }
  }

  TEST_CASE("the examples of the pages run in other types with both kernel sets") {
    std::size_t changed = 0;
    for (const test::PageExample& example : test::page_examples()) {
      for (const char* options : {"to=BFloat16", "to=Float16,interface", "to=Float64"}) {
        CAPTURE(example.page);
        CAPTURE(options);
        Reading reading(example.text);
        Module& module = reading.module();
        const std::string pipeline = fmt::format("convert-types{{{}}}", options);
        CHECK(run_passes(module, pipeline) == Lines{});
        const std::string once = print(module);
        changed += once != print(Reading(example.text).module()) ? 1 : 0;
        CHECK(run_passes(module, pipeline) == Lines{});
        CHECK(print(module) == once);
        for (const KernelSet kernels : {KernelSet::kRef, KernelSet::kFast}) {
          CHECK(outputs_of(module, kernels).size() == module.body().result_types().size());
        }
      }
    }
    CHECK(changed > 20);
  }

  TEST_CASE("the steps of one cache have one type") {
    const std::string step = "q_head:4, kv_head:2, head_dim:8, capacity:64, past:",
                      type = "tensor<[1, 2, $S, 8], Float32, CPU>";
    const std::string text = fmt::format(
        "@main [mir_version:1] (%k:{0}, %v:{0}, %l:{0}, %w:{0}) -> (%c:{1}, %d:{1}) {{\n"
        "    linalg.CPU.KVCacheOp [cache:@cache.x, {2}$past](%k, %v) -> (%a:{3}, %b:{3})\n"
        "    linalg.CPU.KVCacheOp [cache:@cache.x, {2}$past+$S](%l, %w) -> (%c:{1}, %d:{1})\n"
        "    cf.ReturnOp (%c, %d) -> ()\n}}\n",
        type, "tensor<[1, 2, $past+2*$S, 8], Float32, CPU>", step,
        "tensor<[1, 2, $past+$S, 8], Float32, CPU>");
    const auto steps_in = [&](const std::string& options) {
      Reading reading(text);
      CHECK(run_passes(reading.module(), fmt::format("convert-types{{{}}}", options)) == Lines{});
      CHECK(outputs_of(reading.module(), KernelSet::kRef).size() == 2);
      std::size_t steps = 0;
      for_each_op(reading.module(), [&](const Op& op) {
        const bool is_step = op.is(OpId::kLinalgKVCache);
        steps += is_step && op.operand(0)->tensor_type()->dtype() == DType::kBFloat16 ? 1 : 0;
      });
      return steps;
    };
    CHECK(steps_in("names=[k,v,a,b]") == 0);
    CHECK(steps_in("names=[l,w,c,d]") == 0);
    CHECK(steps_in("to=BFloat16") == 2);
  }

  TEST_CASE("arguments of blocks of the module change, its inputs do not") {
    const std::string type = "tensor<[2], Float32, CPU>";
    Reading reading(
        fmt::format("@main [mir_version:2] (%x:{0}, %c:tensor<[1], Bool, CPU>) -> (%y:{0}) {{\n"
                    "    cf.CondBranchOp (%c) -> () [^a(%x), ^b(%x)]\n"
                    "^a(%p:{0}):\n"
                    "    linalg.CPU.NegOp (%p) -> (%q:{0})\n"
                    "    cf.BranchOp () -> () [^b(%q)]\n"
                    "^b(%y:{0}):\n"
                    "    cf.ReturnOp (%y) -> ()\n}}\n",
                    type));
    Module& module = reading.module();
    CHECK(run_passes(module, "convert-types") == Lines{});
    const Block* entry = module.body().entry();
    CHECK(entry->arguments()[0].tensor_type()->dtype() == DType::kFloat32);
    CHECK(entry->next()->arguments()[0].tensor_type()->dtype() == DType::kBFloat16);
    CHECK(outputs_of(module, KernelSet::kRef).front().dtype() == DType::kFloat32);
  }

  TEST_CASE("a returned parameter is stored in the new type and cast") {
    Reading reading(
        "@main [mir_version:1] () -> (%y:tensor<[2], Float32, CPU>[@w]) {\n"
        "    graph.SubGraphOp @init <notype> {\n        () -> () {\n"
        "            tensor.CPU.register () -> (%w:tensor<[2], Float32, CPU>[@w])[symbol:w]\n"
        "        }\n    }\n"
        "    cf.ReturnOp (%y:tensor<[2], Float32, CPU>[@w]) -> ()\n}\n");
    CHECK(run_passes(reading.module(), "convert-types{scope=parameters}") == Lines{});
    const std::string text = print(reading.module());
    CHECK(text == test::Part{"-> (%w:tensor<[2], Float32, CPU>) {"});
    CHECK(text == test::Part{"(%w:tensor<[2], BFloat16, CPU>[@w])[symbol:w]"});
    CHECK(outputs_of(reading.module(), KernelSet::kRef).front().dtype() == DType::kFloat32);
  }

  TEST_CASE("back from a wider type, a module is as it was") {
    for (const test::PageExample& example : test::page_examples()) {
      CAPTURE(example.page);
      Reading reading(example.text), other(example.text);
      Module& module = reading.module();
      CHECK(run_passes(module,
                       "convert-types{to=Float64,interface},"
                       "convert-types{from=Float64,to=Float32,interface}") == Lines{});
      const auto found = outputs_of(module, KernelSet::kRef);
      const auto expected = outputs_of(other.module(), KernelSet::kRef);
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (expected[i].dtype() == DType::kFloat64) continue;
        CHECK(found[i].dtype() == expected[i].dtype());
        CHECK(hash_bytes(found[i]) == hash_bytes(expected[i]));
      }
    }
  }
}

}  // namespace convert_types_test

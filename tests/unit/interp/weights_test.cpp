// When parameters are in memory.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "../numeric.hpp"
#include "../weights/temporary.hpp"
#include "interp/summary.hpp"
#include "mir/codes/usage.hpp"
#include "module_text.hpp"
#include "weights/formats/safetensors.hpp"

namespace mir::test {

namespace {

/// Three products one after the other; `a` is used twice. Weights are 64, 64 and 32 bytes.
const char* const kProducts = R"(
@main [mir_version:1] (%x:tensor<[1, 4], Float32, CPU>) -> (%y:tensor<[1, 2], Float32, CPU>, %p:tensor<[2, 4], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%a:tensor<[4, 4], Float32, CPU>[@a.weight])[symbol:a.weight]
      tensor.CPU.register () -> (%b:tensor<[4, 4], Float32, CPU>[@b.weight])[symbol:b.weight]
      tensor.CPU.register () -> (%c:tensor<[2, 4], Float32, CPU>[@c.weight])[symbol:c.weight]
      tensor.CPU.register () -> (%p:tensor<[2, 4], Float32, CPU>[@p])[symbol:p]
    }
  }
  linalg.CPU.LinearOp <name="a"> [in_channels:4, out_channels:4, bias:false] (%x:tensor<[1, 4], Float32, CPU>) -> (%1:tensor<[1, 4], Float32, CPU>)
  linalg.CPU.LinearOp <name="b"> [in_channels:4, out_channels:4, bias:false] (%1:tensor<[1, 4], Float32, CPU>) -> (%2:tensor<[1, 4], Float32, CPU>)
  linalg.CPU.LinearOp <name="a"> [in_channels:4, out_channels:4, bias:false] (%2:tensor<[1, 4], Float32, CPU>) -> (%3:tensor<[1, 4], Float32, CPU>)
  linalg.CPU.LinearOp <name="c"> [in_channels:4, out_channels:2, bias:false] (%3:tensor<[1, 4], Float32, CPU>) -> (%y:tensor<[1, 2], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[1, 2], Float32, CPU>, %p:tensor<[2, 4], Float32, CPU>[@p]) -> ()
}
)";
constexpr std::uint64_t kOutput = 32;  // @p is there during the whole run

Tensor ones() {
  return floats({1, 4}, {1, 1, 1, 1});
}

/// Bytes of made parameters at each step and after the run.
std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>> made_in(Runner& runner,
                                                                          bool is_last) {
  std::vector<std::uint64_t> bytes;
  RunOptions options;
  options.is_last = is_last;
  options.observe = [&](const StepResults&) {
    bytes.push_back(runner.session().made_weight_bytes());
    return Result<void>();
  };
  const auto outputs = runner.run({ones()}, options);
  bytes.push_back(runner.session().made_weight_bytes());
  return {bytes, {hash_bytes(outputs[0]), hash_bytes(outputs[1])}};
}

using Bytes = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("parameters are made when a step first needs them and released after the last one") {
  Runner runner(kProducts);
  CHECK(runner.session().made_weight_bytes() == 0);
  const auto [bytes, hashes] = made_in(runner, true);
  CHECK(bytes == Bytes{kOutput + 64, kOutput + 128, kOutput + 64, kOutput + 32, 0});
  const auto [again, same] = made_in(runner, true);
  CHECK(again == bytes);
  CHECK(same == hashes);
}

TEST_CASE("invented integers by which a linear op multiplies are 0 and 1, others are 0") {
  Runner runner(R"(
@main [mir_version:1] (%x:tensor<[4, 4], Float32, CPU>) -> (%y:tensor<[4, 9], Float32, CPU>, %p:tensor<[2, 4], Int16, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%a:tensor<[9, 4], Int16, CPU>[@a.weight])[symbol:a.weight]
      tensor.CPU.register () -> (%p:tensor<[2, 4], Int16, CPU>[@p])[symbol:p]
    }
  }
  linalg.CPU.LinearOp <name="a"> [in_channels:4, out_channels:9, bias:false] (%x:tensor<[4, 4], Float32, CPU>) -> (%y:tensor<[4, 9], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[4, 9], Float32, CPU>, %p:tensor<[2, 4], Int16, CPU>[@p]) -> ()
}
)");
  const auto outputs =
      runner.run({floats({4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})});
  std::array<int, 2> counts{};
  for (const double weight : values_of(outputs[0])) ++counts.at(static_cast<std::size_t>(weight));
  CHECK(counts[0] > 9);
  CHECK(counts[1] > 9);
  for (const double other : values_of(outputs[1])) CHECK(other == 0);
}

TEST_CASE("a run that another may follow keeps its parameters, up to the limit") {
  Runner all(kProducts);
  const auto [bytes, hashes] = made_in(all, false);
  CHECK(bytes == Bytes{kOutput + 64, kOutput + 128, kOutput + 128, kOutput + 160, kOutput + 160});
  // The output and `a` fill the limit; the others come and go.
  Runner some(kProducts, SessionOptions{.entry = {}, .weight_memory = kOutput + 64});
  for (int run = 0; run < 2; ++run) {
    const auto [own, same] = made_in(some, false);
    CHECK(own.back() == kOutput + 64);
    CHECK(own[1] == kOutput + 128);
    CHECK(own[3] == kOutput + 96);
    CHECK(same == hashes);
  }
  CHECK(made_in(some, true).first.back() == 0);
  Runner none(kProducts, SessionOptions{.entry = {}, .weight_memory = 0});
  const auto [few, same] = made_in(none, false);
  CHECK(few == Bytes{kOutput + 64, kOutput + 64, kOutput + 64, kOutput + 32, 0});
  CHECK(same == hashes);
}

TEST_CASE("fast kernels keep the packed form alone of what only products read") {
  SessionOptions options;
  options.kernels = KernelSet::kFast;
  Runner fast(kProducts, options), ref(kProducts);
  CHECK(fast.session().made_weight_bytes() == kOutput);
  const auto expected = values_of(ref.run({ones()})[0]), found = values_of(fast.run({ones()})[0]);
  CHECK(not_close(1e-5, found, expected) == "");
  // A run that is observed has a plan of its own, made from tensors that are made again.
  CHECK(made_in(fast, false).first == Bytes(5, kOutput));
  CHECK(values_of(fast.run({ones()})[0]) == found);
}

TEST_CASE("a weight that a reference kernel reads too stays beside its packed form") {
  std::string text = kProducts;
  const std::string other =
      "linalg.CPU.LinearOp <name=\"b\"> [in_channels:4, out_channels:4, bias:false] "
      "(%1:tensor<[1, 4], Float32, CPU>) -> (%2:tensor<[1, 4], Float32, CPU>)";
  const auto at = text.find(other);
  REQUIRE(at != text.npos);
  text.replace(
      at, other.size(),
      R"(linalg.CPU.CastTypeOp [dtype:Float16] (%1:tensor<[1, 4], Float32, CPU>) -> (%h:tensor<[1, 4], Float16, CPU>)
  linalg.CPU.LinearOp <name="a"> [in_channels:4, out_channels:4, bias:false] (%h:tensor<[1, 4], Float16, CPU>) -> (%w:tensor<[1, 4], Float16, CPU>)
  linalg.CPU.CastTypeOp [dtype:Float32] (%w:tensor<[1, 4], Float16, CPU>) -> (%2:tensor<[1, 4], Float32, CPU>))");
  SessionOptions options;
  options.kernels = KernelSet::kFast;
  Runner fast(text, options), ref(text);
  CHECK(fast.session().made_weight_bytes() >= kOutput + 64);
  const auto expected = values_of(ref.run({ones()})[0]), found = values_of(fast.run({ones()})[0]);
  CHECK(not_close(1e-3, found, expected) == "");
}

TEST_CASE("a run that fails keeps no parameter that it would not keep otherwise") {
  Runner runner(kProducts, SessionOptions{.entry = {}, .weight_memory = 0});
  RunOptions options;
  options.observe = [](const StepResults& step) {
    return step.step < 2 ? Result<void>() : Result<void>(Error{diag::kUsage, "enough"});
  };
  runner.error({ones()}, options);
  CHECK(runner.session().made_weight_bytes() == 0);
}

TEST_CASE("parameters that a file holds as they are needed are not made, converted ones are") {
  const TemporaryDirectory directory;
  const auto b = *Tensor::allocate(DType::kBFloat16, {4, 4});
  const NamedTensor stored[] = {{"a.weight", floats({4, 4}, std::vector<double>(16, 0.5))},
                                {"b.weight", b},
                                {"c.weight", floats({2, 4}, std::vector<double>(8, 0.25))},
                                {"p", floats({2, 4}, std::vector<double>(8, 1))}};
  REQUIRE(write_safetensors(directory.file("w"), stored));
  Text text(kProducts);
  WeightSet weights;
  REQUIRE(weights.add(directory.file("w")));
  Diagnostics problems;
  auto session = Session::create(*text.module, {.entry = {}, .weights = &weights}, problems);
  REQUIRE(session);
  weights = {};
  Bytes bytes;
  RunOptions options;
  options.is_last = true;
  options.observe = [&](const StepResults&) {
    bytes.push_back(session->made_weight_bytes());
    return Result<void>();
  };
  REQUIRE(session->run(std::vector{ones()}, problems, options));
  CHECK(bytes == Bytes{0, 64, 0, 0});
}

TEST_CASE("sessions that share parameters have one tensor of each") {
  Runner first(kProducts);
  Diagnostics problems;
  const Module& module = first.schedule().module();
  auto second =
      Session::create(module, {.entry = {}, .share_parameters = &first.session()}, problems);
  REQUIRE(second);
  const auto one = first.run({ones()});
  const std::uint64_t kept = first.session().made_weight_bytes();
  const auto other = second->run(std::vector{ones()}, problems);
  REQUIRE(other);
  CHECK(second->made_weight_bytes() == kept);
  CHECK((*other)[1].bytes().data() == one[1].bytes().data());
}

TEST_CASE("parameters that are one tensor in a file are one tensor in a run") {
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  Runner tied(replaced(kProducts, "[symbol:b.weight]", "[symbol:b.weight, stored:a.weight]"),
              SessionOptions{.entry = {}});
  Runner same(replaced(kProducts, "<name=\"b\">", "<name=\"a\">"), SessionOptions{.entry = {}});
  const auto [bytes, outputs] = made_in(tied, true);
  const auto [bytes_of_same, outputs_of_same] = made_in(same, true);
  CHECK(outputs == outputs_of_same);
  CHECK(bytes == bytes_of_same);
}

TEST_CASE("a norm without a weight has its bias") {
  Runner runner(R"(
@main [mir_version:1] (%x:tensor<[1, 4], Float32, CPU>) -> (%y:tensor<[1, 4], Float32, CPU>, %b:tensor<[4], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%b:tensor<[4], Float32, CPU>[@n.bias])[symbol:n.bias]
    }
  }
  linalg.CPU.LayerNormOp <name="n"> [normalized_shape:[4], elementwise_affine:false, bias:true, eps:1e-5] (%x:tensor<[1, 4], Float32, CPU>) -> (%y:tensor<[1, 4], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[1, 4], Float32, CPU>, %b:tensor<[4], Float32, CPU>[@n.bias]) -> ()
}
)");
  const auto outputs = runner.run({floats({1, 4}, {0, 0, 0, 0})});
  CHECK(values_of(outputs[0]) == values_of(outputs[1]));
  CHECK(values_of(outputs[0]) != std::vector<double>(4, 0));
}

TEST_CASE("a scale of LPBQ is that of the block times that of the channel") {
  const std::string spec =
      "quant_recipe:QuantSpec(LPBQ(quant_min: -7, quant_max: 7, block_size: 2, ch_axis: 3, "
      "scale_level_0_bitwidth: 4, quant_to_type: Int4, scale_1_type: Float32), uuid=3, solved=1)";
  const std::string codes = "tensor<[1, 1, 4, 2], Int8PerChannel, CPU>",
                    reals = "tensor<[1, 1, 4, 2], Float32, CPU>";
  Text text("@main [mir_version:1] () -> (%y:" + reals +
            ") {\ngraph.SubGraphOp @init <CPU> {\n() -> () {\ntensor.CPU.register () -> (%w:" +
            codes + "[@c.weight][" + spec + "])[symbol:c.weight]\n}\n}\n" +
            "linalg.CPU.CastTypeOp [dtype:Float32] (%w:" + codes + "[@c.weight][" + spec +
            "]) -> (%y:" + reals + ")\ncf.ReturnOp (%y:" + reals + ") -> ()\n}\n");
  const auto values_with = [&](std::vector<NamedTensor> scales) {
    const TemporaryDirectory directory;
    const std::string path = directory.file("w.safetensors");
    scales.push_back(
        {"c.weight", tensor(DType::kInt8PerChannel, {1, 1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, -7})});
    REQUIRE(write_safetensors(path, scales));
    WeightSet weights;
    REQUIRE(weights.add(path));
    SessionOptions options;
    options.weights = &weights;
    Diagnostics problems;
    auto session = Session::create(*text.module, options, problems);
    REQUIRE_MESSAGE(session.has_value(), problems.sorted().front().message);
    const auto outputs = session->run({}, problems);
    REQUIRE(outputs.has_value());
    return values_of(outputs->front());
  };
  // Two blocks of two elements along each channel.
  const NamedTensor blocks = {"c.weight.scale1", floats({4}, {0.5, 2, 0.25, 4})};
  CHECK(values_with({blocks, {"c.weight.scale2", floats({2}, {1, 8})}}) ==
        std::vector<double>{0.5, 4, 1.5, 8, 10, 192, 14, -224});
  CHECK(values_with({blocks}) == std::vector<double>{0.5, 0.5, 1.5, 1, 10, 24, 14, -28});
}

}  // namespace mir::test

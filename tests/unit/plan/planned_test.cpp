// Sessions with fast kernels.
#include "planned.hpp"

#include <algorithm>
#include <cmath>

#include "../numeric.hpp"
#include "interp/session_run.hpp"
#include "interp/summary.hpp"

namespace mir::test::planned {

namespace {

/// `count` states of four numbers, different for every position.
Tensor states(std::int64_t first, std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = first * 4; i < (first + count) * 4; ++i) {
    values.push_back(static_cast<double>(i % 7) * 0.25 - 0.5);
  }
  return floats({1, count, 4}, values);
}

std::size_t count_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::count(names, name));
}

/// What the kernels of a session compute with.
fast::Context& context_of(Runner& runner) {
  return *SessionAccess::state(runner.session()).context;
}

/// A feed-forward block with a residual.
const char* const kFeedForward = R"(
@main [mir_version:1] (%x:tensor<[1, $S, 8], Float32, CPU>) -> (%y:tensor<[1, $S, 8], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%n:tensor<[8], Float32, CPU>[@norm.weight])[symbol:norm.weight]
      tensor.CPU.register () -> (%g:tensor<[20, 8], Float32, CPU>[@gate.weight])[symbol:gate.weight]
      tensor.CPU.register () -> (%gb:tensor<[20], Float32, CPU>[@gate.bias])[symbol:gate.bias]
      tensor.CPU.register () -> (%u:tensor<[20, 8], BFloat16, CPU>[@up.weight])[symbol:up.weight]
      tensor.CPU.register () -> (%d:tensor<[8, 20], Float16, CPU>[@down.weight])[symbol:down.weight]
    }
  }
  linalg.CPU.RMSNormOp <name="norm"> [epsilon:1e-06] (%x:tensor<[1, $S, 8], Float32, CPU>) -> (%h:tensor<[1, $S, 8], Float32, CPU>)
  linalg.CPU.LinearOp <name="gate"> [in_channels:8, out_channels:20, bias:true] (%h:tensor<[1, $S, 8], Float32, CPU>) -> (%a:tensor<[1, $S, 20], Float32, CPU>)
  linalg.CPU.SiLUOp (%a:tensor<[1, $S, 20], Float32, CPU>) -> (%b:tensor<[1, $S, 20], Float32, CPU>)
  linalg.CPU.LinearOp <name="up"> [in_channels:8, out_channels:20, bias:false] (%h:tensor<[1, $S, 8], Float32, CPU>) -> (%c:tensor<[1, $S, 20], Float32, CPU>)
  linalg.CPU.MulOp (%b:tensor<[1, $S, 20], Float32, CPU>, %c:tensor<[1, $S, 20], Float32, CPU>) -> (%e:tensor<[1, $S, 20], Float32, CPU>)
  linalg.CPU.LinearOp <name="down"> [in_channels:20, out_channels:8, bias:false] (%e:tensor<[1, $S, 20], Float32, CPU>) -> (%f:tensor<[1, $S, 8], Float32, CPU>)
  linalg.CPU.AddOp (%x:tensor<[1, $S, 8], Float32, CPU>, %f:tensor<[1, $S, 8], Float32, CPU>) -> (%y:tensor<[1, $S, 8], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[1, $S, 8], Float32, CPU>) -> ()
}
)";

std::string with_types(std::string text, const std::string& type) {
  for (const std::string_view other : {"20, 8], Float32", "20, 8], BFloat16", "8, 20], Float16"}) {
    const auto comma = other.find(", ", 5);
    for (auto at = text.find(other); at != text.npos; at = text.find(other, at + 1)) {
      text.replace(at + comma + 2, other.size() - comma - 2, type);
    }
  }
  return text;
}

}  // namespace

TEST_CASE("fast: a prompt at once and token by token give the same bits") {
  for (const Fusion fusion : {Fusion::kOff, Fusion::kExact, Fusion::kAll}) {
    Runner prompt(kAttention, fast(fusion)), steps(kAttention, fast(fusion)), ref(kAttention);
    const auto whole = values_of(prompt.run({states(0, 5)})[0]);
    std::vector<double> joined;
    for (std::int64_t i = 0; i < 5; ++i) {
      const auto one = values_of(steps.run({states(i, 1)})[0]);
      joined.insert(joined.end(), one.begin(), one.end());
    }
    CHECK(joined == whole);
    CHECK(steps.session().cache_length("kv") == 5);
    const auto expected = values_of(ref.run({states(0, 5)})[0]);
    CHECK(not_close(1e-5, whole, expected) == "");
    steps.session().reset();
    CHECK(steps.session().cache_length("kv") == 0);
    CHECK(values_of(steps.run({states(0, 5)})[0]) == whole);
  }
}

TEST_CASE("fast: bits do not depend on the number of threads") {
  const auto first = hash_bytes(Runner(kAttention, fast()).run({states(0, 6)})[0]);
  for (const unsigned threads : {2U, 3U, 8U}) {
    RunnerOptions options = fast();
    options.threads = threads;
    Runner runner(kAttention, options);
    CHECK(hash_bytes(runner.run({states(0, 6)})[0]) == first);
    CHECK(context_of(runner).pool().threads() == threads);
  }
}

TEST_CASE("fast: a session runs with the requested number of threads and instruction set") {
  for (const IsaLevel isa : isa_levels()) {
    CAPTURE(name_of(isa));
    RunnerOptions options = fast();
    options.isa = isa;
    options.threads = 3;
    Runner runner(kAttention, options);
    CHECK(context_of(runner).isa() == std::min(isa, detected_isa_level()));
    CHECK(context_of(runner).pool().threads() == 3);
    runner.run({states(0, 6)});
    CHECK(context_of(runner).isa() == std::min(isa, detected_isa_level()));
    CHECK(context_of(runner).pool().threads() == 3);
  }
  Runner highest(kAttention, fast());
  CHECK(context_of(highest).isa() == detected_isa_level());
  SessionOptions reference;
  reference.threads = 3;
  Runner runner(kAttention, reference);
  runner.run({states(0, 6)});
  CHECK(context_of(runner).pool().threads() == 1);
}

TEST_CASE("fast: a cache that is full refuses the run and keeps its content") {
  Runner runner(kAttention, fast());
  runner.run({states(0, 4)});
  CHECK(runner.error({states(4, 3)}).starts_with("817 "));
  CHECK(runner.session().cache_length("kv") == 4);
  Runner other(kAttention, fast());
  const auto expected = other.run({states(0, 6)});
  const auto last = values_of(runner.run({states(4, 2)})[0]);
  const auto all = values_of(expected[0]);
  CHECK(last == std::vector<double>(all.begin() + 16, all.end()));
}

TEST_CASE("fast: caches without a limit grow") {
  std::string text = kAttention;
  text.erase(text.find("capacity:6, "), 12);
  Runner whole(text, fast()), steps(text, fast());
  const auto all = values_of(whole.run({states(0, 700)})[0]);
  for (std::int64_t i = 0; i < 700; i += 140) {
    const auto part = values_of(steps.run({states(i, 140)})[0]);
    CHECK(part == std::vector<double>(all.begin() + i * 4, all.begin() + (i + 140) * 4));
  }
}

TEST_CASE(
    "fast: activations are rounded to bfloat16 where that is asked for, by any fusion alike") {
  const Tensor x = pattern({1, 5, 8});
  for (const char* const type : {"Float32", "BFloat16", "Float16"}) {
    const std::string text = with_types(kFeedForward, type);
    const auto run = [&](Fusion fusion, Activations activations) {
      RunnerOptions options = fast(fusion);
      options.activations = activations;
      return Runner(text, options).run({x})[0];
    };
    const Tensor off = run(Fusion::kOff, Activations::kBFloat16);
    const Tensor floats = run(Fusion::kOff, Activations::kFloat32);
    CHECK(hash_bytes(run(Fusion::kExact, Activations::kBFloat16)) == hash_bytes(off));
    CHECK(hash_bytes(off) != hash_bytes(floats));
    const auto rounded = values_of(off), exact = values_of(floats);
    CHECK(not_close(0.02, rounded, exact) == "");
  }
}

TEST_CASE("fast: exact fusion gives the bits of the steps one by one") {
  const Tensor x = floats(
      {1, 3, 8}, {1, 2, 3, -4, 5, 6, -7, 8, .5, .25, 0, 1, -1, 2, -2, 3, 9, 8, 7, 6, 5, 4, -3, 2});
  for (const char* const type : {"Float32", "BFloat16", "Float16"}) {
    const std::string text = with_types(kFeedForward, type);
    Runner off(text, fast(Fusion::kOff)), exact(text, fast(Fusion::kExact)), ref(text);
    const auto names = exact.plan().node_names();
    CHECK(names ==
          std::vector<std::string>{"RMSNorm + silu(Linear) * Linear", "Linear + residual"});
    CHECK(off.plan().node_names().size() == 7);
    const auto bits = hash_bytes(off.run({x})[0]);
    CHECK(hash_bytes(exact.run({x})[0]) == bits);
    const auto expected = values_of(ref.run({x})[0]), found = values_of(exact.run({x})[0]);
    CHECK(not_close(1e-5, found, expected) == "");
  }
  // Weights of two types are not read as one.
  Runner mixed(kFeedForward, fast());
  CHECK(count_of(mixed.plan().node_names(), "RMSNorm + silu(Linear) * Linear") == 0);
  CHECK(mixed.run({x})[0].defined());
}

TEST_CASE("fast: weights in blocks take activations of 8 bits as the reference does") {
  std::string text = kFeedForward;
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  };
  replace("[1, $S, 8]", "[1, $S, 64]");
  replace("<[8], ", "<[64], ");
  replace("[20, 8]", "[32, 64]");
  replace("[8, 20]", "[64, 32]");
  replace("[20]", "[32]");
  replace("[1, $S, 20]", "[1, $S, 32]");
  replace("channels:8", "channels:64");
  replace("channels:20", "channels:32");
  replace("32, 64], Float32", "32, 64], GGUF_Q8_0");
  replace("32, 64], BFloat16", "32, 64], GGUF_Q8_0");
  replace("64, 32], Float16", "64, 32], GGUF_Q4_0");
  std::vector<double> values;
  for (int i = 0; i < 5 * 64; ++i) values.push_back((i * 37 % 101) * 0.02 - 1);
  const Tensor x = floats({1, 5, 64}, values);
  for (const bool own : {false, true}) {
    if (own) replace("GGUF_Q8_0", "MIR_Q4_A32");
    if (own) replace("GGUF_Q4_0", "MIR_Q4_A32");
    Runner all(text, fast()), ref(text);
    const auto names = all.plan().node_names();
    CHECK(names ==
          std::vector<std::string>{"RMSNorm + silu(Linear) * Linear", "Linear + residual"});
    const auto expected = values_of(ref.run({x})[0]), found = values_of(all.run({x})[0]);
    double most = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      most = std::max(most, std::fabs(found[i] - expected[i]));
    }
    CHECK(most < 2e-3);  // a code of 8 bits may be the next one, where the product before differs
  }
}

/// Codes of 16 bits, a weight per channel and one of LPBQ whose input channels come first, codes of
/// 8 bits in and out of a view, a step that no fast kernel takes, and one on Float32.
const char* const kQuantised = R"(
#a = QuantSpec(AsymPerTensor(quant_min: 0, quant_max: 65535, quant_to_type: UInt16, scale_type: Float32, zero_point_type: Int32), uuid=1, solved=1)
#w = QuantSpec(SymPerChannel(quant_min: -127, quant_max: 127, ch_axis: 0, quant_to_type: Int8, scale_type: Float32), uuid=2, solved=1)
#l = QuantSpec(LPBQ(quant_min: -7, quant_max: 7, block_size: 32, ch_axis: 3, scale_level_0_bitwidth: 4, quant_to_type: Int4, scale_1_type: Float32), uuid=3, solved=1)
#b = QuantSpec(SymPerTensor(quant_min: -127, quant_max: 127, quant_to_type: Int8, scale_type: Float32), uuid=4, solved=1)
@main [mir_version:1] (%x:tensor<[1, 1, $S, 64], UInt16PerTensor, CPU>[quant_recipe:#a, quant_scale:0.001, quant_zero_point:32768]) -> (%2:tensor<[1, 1, $S, 40], UInt16PerTensor, CPU>[quant_recipe:#a, quant_scale:0.001, quant_zero_point:30000], %4:tensor<[1, $S, 1, 48], UInt16PerTensor, CPU>[quant_recipe:#a, quant_scale:0.002, quant_zero_point:32768], %6:tensor<[1, 1, $S, 48], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%n:tensor<[48, 64], Int8PerChannel, CPU>[@first.weight][quant_recipe:#w])[symbol:first.weight]
      tensor.CPU.register () -> (%m:tensor<[48], Int8PerTensor, CPU>[@first.bias][quant_recipe:#b])[symbol:first.bias]
      tensor.CPU.register () -> (%o:tensor<[1, 1, 64, 40], Int8, CPU>[@second.weight][quant_recipe:#l])[symbol:second.weight]
    }
  }
  linalg.CPU.LinearOp <name="first"> [in_channels:64, out_channels:48, bias:true] (%x:tensor<[1, 1, $S, 64], UInt16PerTensor, CPU>) -> (%1:tensor<[1, 1, $S, 48], UInt16PerTensor, CPU>[quant_recipe:#a, quant_scale:0.002, quant_zero_point:32768])
  linalg.CPU.Conv2DOp <name="second"> [in_channels:64, out_channels:40, kernel_size:[1, 1], stride:[1, 1], padding:[0, 0], dilation:[1, 1], bias:false, impl_type:"QNN_LPBQ_w4a16o16_G32"] (%x:tensor<[1, 1, $S, 64], UInt16PerTensor, CPU>) -> (%2:tensor<[1, 1, $S, 40], UInt16PerTensor, CPU>[quant_recipe:#a, quant_scale:0.001, quant_zero_point:30000])
  linalg.CPU.SiLUOp (%1:tensor<[1, 1, $S, 48], UInt16PerTensor, CPU>) -> (%3:tensor<[1, 1, $S, 48], UInt16PerTensor, CPU>[quant_recipe:#a, quant_scale:0.002, quant_zero_point:32768])
  linalg.CPU.TransposeOp [dim0:1, dim1:2] (%3:tensor<[1, 1, $S, 48], UInt16PerTensor, CPU>) -> (%4:tensor<[1, $S, 1, 48], UInt16PerTensor, CPU>[quant_recipe:#a, quant_scale:0.002, quant_zero_point:32768])
  linalg.CPU.CastTypeOp [dtype:Float32] (%1:tensor<[1, 1, $S, 48], UInt16PerTensor, CPU>) -> (%5:tensor<[1, 1, $S, 48], Float32, CPU>)
  linalg.CPU.AddOp (%5:tensor<[1, 1, $S, 48], Float32, CPU>, %5:tensor<[1, 1, $S, 48], Float32, CPU>) -> (%6:tensor<[1, 1, $S, 48], Float32, CPU>)
  cf.ReturnOp (%2:tensor<[1, 1, $S, 40], UInt16PerTensor, CPU>, %4:tensor<[1, $S, 1, 48], UInt16PerTensor, CPU>, %6:tensor<[1, 1, $S, 48], Float32, CPU>) -> ()
}
)";

TEST_CASE(
    "fast: products of codes are Float32 products between codes, other steps the reference's") {
  std::vector<double> codes;
  for (int i = 0; i < 5 * 64; ++i) codes.push_back(32768 + i * 7919 % 2001 - 1000);
  const Tensor x = tensor(DType::kUInt16PerTensor, {1, 1, 5, 64}, codes);
  Runner ref(kQuantised);
  const auto expected = ref.run({x});
  for (const Fusion fusion : {Fusion::kOff, Fusion::kAll}) {
    Runner runner(kQuantised, fast(fusion));
    const auto names = runner.plan().node_names();
    CHECK(count_of(names, "dequantise") == 1);  // both products take the same
    CHECK(count_of(names, "Linear") == 2);
    CHECK(count_of(names, "quantise") == 2);
    CHECK(count_of(names, "SiLUOp (ref)") == 1);
    CHECK(count_of(names, "LinearOp (ref)") + count_of(names, "Conv2DOp (ref)") == 0);
    CHECK(std::ranges::none_of(names, [](const auto& name) { return name == "AddOp (ref)"; }));
    const auto found = runner.run({x});
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i].dtype() == expected[i].dtype());
      const auto got = values_of(found[i]), want = values_of(expected[i]);
      const double step = i < 2 ? 1 : 0.004001;  // one code
      CHECK(std::ranges::max(want) - std::ranges::min(want) > 100 * step);
      CHECK(not_within(step, got, want) == "");
    }
    RunnerOptions three = fast(fusion);
    three.threads = 3;
    CHECK(hash_bytes(Runner(kQuantised, three).run({x})[0]) == hash_bytes(found[0]));
  }
}

TEST_CASE("fast: attention is one node and its projections are another") {
  Runner runner(kAttention, fast());
  const auto names = runner.plan().node_names();
  CHECK(count_of(names, "attention") == 1);
  CHECK(count_of(names, "2 x Linear") == 1);
  CHECK(count_of(names, "copy") == 0);
  runner.run({states(0, 5)});
  CHECK(runner.plan().planned_bytes() >= runner.plan().lower_bound());
}

TEST_CASE("fast: values inside fused nodes take no memory, others share it") {
  Runner block(with_types(kFeedForward, "Float32"), fast());
  block.run({pattern({1, 16, 8})});
  // One of 20 numbers a row, and the sum.
  CHECK(block.plan().lower_bound() == (8 + 20) * 16 * 4);
  CHECK(block.plan().planned_bytes() == (8 + 20) * 16 * 4);
  std::string text = kAttention;
  text.erase(text.find("capacity:6, "), 12);
  Runner attention(text, fast());
  attention.run({states(0, 200)});
  // q, k and the mixture, without scores of 200 by 200 for each head.
  CHECK(attention.plan().planned_bytes() <= 200 * (4 + 2 + 4) * 4 * 11 / 10);
}

TEST_CASE(
    "what a run needs is what its plan needs: fused values count with reference kernels alone") {
  std::string text = kAttention;
  text.erase(text.find("capacity:6, "), 12);
  RunOptions options;
  options.memory_limit = 100000;
  Runner fused(text, fast());
  fused.run({states(0, 200)}, options);
  Runner unfused(text);
  CHECK(unfused.error({states(0, 200)}, options).find("at most 100000 are allowed") !=
        std::string::npos);
}

TEST_CASE("threads that there are not: one warning, and the bits of others") {
  const std::string text = with_types(kFeedForward, "Float32");
  const Text module(text);
  WeightSet weights;
  REQUIRE(weights.add("random:1"));
  RunnerOptions options = fast();
  options.weights = &weights;
  options.threads = fast::ThreadPool::kMaxThreads + 1;
  Diagnostics creation, run;
  auto session = Session::create(*module.module, options, creation);
  REQUIRE(session.has_value());
  const auto x = pattern({1, 16, 8});
  const auto found = session->run(std::vector{x}, run);
  REQUIRE(found.has_value());
  CHECK(creation.warning_count() == 1);
  CHECK(run.warning_count() == 0);
  CHECK(hash_bytes((*found)[0]) == hash_bytes(Runner(text, fast()).run({x})[0]));
}

TEST_CASE("fast: steps are observed one by one, and what an observer puts there counts") {
  Runner plain(kFeedForward, fast()), observed(kFeedForward, fast());
  const Tensor x = floats({1, 1, 8}, {1, 2, 3, -4, 5, 6, -7, 8});
  const auto unchanged = values_of(plain.run({x})[0]);
  std::vector<std::string> seen;
  RunOptions options;
  options.observe = [&](const StepResults& step) -> Result<void> {
    seen.emplace_back(step.op.info().mnemonic);
    // The product with the gate becomes zero, so the block gives back its input.
    if (seen.back() == "MulOp") step.results[0] = *Tensor::allocate(DType::kFloat32, {1, 1, 20});
    return {};
  };
  const auto changed = values_of(observed.run({x}, options)[0]);
  CHECK(seen == std::vector<std::string>{"RMSNormOp", "LinearOp", "SiLUOp", "LinearOp", "MulOp",
                                         "LinearOp", "AddOp"});
  CHECK(changed == values_of(x));
  CHECK(unchanged != changed);
  CHECK(values_of(observed.run({x})[0]) == unchanged);
}

TEST_CASE("fast: a cache that two steps write is left to reference kernels") {
  std::string text = kAttention;
  const auto line = text.find("      linalg.CPU.KVCacheOp");
  const auto end = text.find('\n', line) + 1;
  std::string again = text.substr(line, end - line);
  for (const auto& [from, to] :
       {std::pair("%keys", "%keys2"), std::pair("%vals", "%vals2"),
        std::pair("<name=\"kv\">", "<name=\"kv2\">"), std::pair("[q_head", "[cache:@kv, q_head"),
        std::pair("$past+$S", "$past+2*$S"), std::pair("$past+$S", "$past+2*$S")}) {
    again.replace(again.find(from), std::string(from).size(), to);
  }
  again.erase(again.find(", past:$past"), 12);
  text.insert(end, again);
  Runner runner(text, fast()), ref(text);
  CHECK(count_of(runner.plan().node_names(), "KVCacheOp (ref)") == 2);
  CHECK(count_of(runner.plan().node_names(), "KVCache") == 0);
  for (const std::int64_t tokens : {2, 1}) {
    const auto x = states(static_cast<int>(2 - tokens), static_cast<int>(tokens));
    check_close(runner.run({x}), ref.run({x}));
  }
}

TEST_CASE("fast: a view that nothing reads is shown as it was when it was made") {
  const std::string text = R"(
@main [mir_version:1] (%x:tensor<[2, 8], Float32, CPU>) -> (%y:tensor<[2, 8], Float32, CPU>) {
  linalg.CPU.ExpOp (%x:tensor<[2, 8], Float32, CPU>) -> (%a:tensor<[2, 8], Float32, CPU>)
  linalg.CPU.ViewOp [to_shape:[4, 4]] (%a:tensor<[2, 8], Float32, CPU>) -> (%b:tensor<[4, 4], Float32, CPU>)
  linalg.CPU.NegOp (%x:tensor<[2, 8], Float32, CPU>) -> (%c:tensor<[2, 8], Float32, CPU>)
  linalg.CPU.TransposeOp [dim0:0, dim1:1] (%b:tensor<[4, 4], Float32, CPU>) -> (%d:tensor<[4, 4], Float32, CPU>)
  linalg.CPU.AbsOp (%c:tensor<[2, 8], Float32, CPU>) -> (%y:tensor<[2, 8], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[2, 8], Float32, CPU>) -> ()
}
)";
  std::vector<std::vector<std::vector<double>>> shown;
  for (const RunnerOptions& options : {RunnerOptions(), fast(Fusion::kStated)}) {
    Runner runner(text, options);
    auto& results = shown.emplace_back();
    RunOptions run;
    run.observe = [&](const StepResults& step) -> Result<void> {
      results.push_back(values_of(step.results[0]));
      return {};
    };
    runner.run({pattern({2, 8})}, run);
  }
  REQUIRE(shown[1].size() == 5);
  CHECK(not_close(1e-5, shown[1][3], shown[0][3]) == "");
}

TEST_CASE("fast: a symbol that only a result binds leaves the step to a reference kernel") {
  const std::string text = R"(
@main [mir_version:1] (%x:tensor<[$S, 2], Float32, CPU>) -> (%y:tensor<[$N, 2], Float32, CPU>) {
  tensor.CPU.alloc () -> (%y:tensor<[$N, 2], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[$N, 2], Float32, CPU>) -> ()
}
)";
  Runner runner(text, fast(), Checked::kNo);
  CHECK(runner.plan().node_names() == std::vector<std::string>{"alloc (ref)"});
  RunOptions options;
  options.dims.bind(runner.context().intern("N"), 3);
  CHECK(runner.run({floats({1, 2}, {1, 2})}, options)[0].shape() == Shape{3, 2});
}

TEST_CASE("fast: what a kernel does not take runs as its steps do") {
  struct Case {
    const char* what;
    const char* text;
    std::vector<Shape> inputs;
    std::size_t attentions;
  };
  const Case cases[] = {
      {"keys that repeat over batches",
       R"(
@main [mir_version:1] (%q:tensor<[2, 4, 3, 2], Float32, CPU>, %k:tensor<[1, 2, 5, 2], Float32, CPU>, %v:tensor<[1, 2, 5, 2], Float32, CPU>) -> (%o:tensor<[2, 4, 3, 2], Float32, CPU>) {
  linalg.CPU.MatMulOp [transpose_b:true] (%q, %k) -> (%s)
  linalg.CPU.SoftmaxOp [axis:-1] (%s) -> (%p)
  linalg.CPU.MatMulOp [transpose_b:false] (%p, %v) -> (%o)
  cf.ReturnOp (%o) -> ()
}
)",
       {{2, 4, 3, 2}, {1, 2, 5, 2}, {1, 2, 5, 2}},
       0},
      {"a mask of one entry for all keys",
       R"(
@main [mir_version:1] (%q:tensor<[1, 2, 3, 2], Float32, CPU>, %k:tensor<[1, 2, 5, 2], Float32, CPU>, %m:tensor<[3, 1], Float32, CPU>) -> (%o:tensor<[1, 2, 3, 2], Float32, CPU>) {
  linalg.CPU.MatMulOp [transpose_b:true] (%q, %k) -> (%s)
  linalg.CPU.AddOp (%s, %m) -> (%t)
  linalg.CPU.SoftmaxOp [axis:-1] (%t) -> (%p)
  linalg.CPU.MatMulOp [transpose_b:false] (%p, %k) -> (%o)
  cf.ReturnOp (%o) -> ()
}
)",
       {{1, 2, 3, 2}, {1, 2, 5, 2}, {3, 1}},
       0},
      {"a mask that repeats over heads, a divisor as scale",
       R"(
@main [mir_version:1] (%q:tensor<[2, 4, 3, 2], Float32, CPU>, %k:tensor<[2, 2, 5, 2], Float32, CPU>, %m:tensor<[2, 1, 3, 5], Float32, CPU>) -> (%o:tensor<[2, 4, 3, 2], Float32, CPU>) {
  linalg.CPU.MatMulOp [transpose_b:true] (%q, %k) -> (%s)
  linalg.CPU.DivOp (%s, %c:tensor<[1], Float32, CPU>[constant:[1.5]]) -> (%d)
  linalg.CPU.AddOp (%d, %m) -> (%t)
  linalg.CPU.SoftmaxOp [axis:3] (%t) -> (%p)
  linalg.CPU.MatMulOp [transpose_b:false] (%p, %k) -> (%o)
  cf.ReturnOp (%o) -> ()
}
)",
       {{2, 4, 3, 2}, {2, 2, 5, 2}, {2, 1, 3, 5}},
       1},
      {"a mask of queries and keys",
       R"(
@main [mir_version:1] (%q:tensor<[2, 4, 3, 2], Float32, CPU>, %k:tensor<[2, 2, 5, 2], Float32, CPU>, %m:tensor<[3, 5], Float32, CPU>, %n:tensor<[4, 1, 5], Float32, CPU>, %l:tensor<[5], Float32, CPU>) -> (%o:tensor<[2, 4, 3, 2], Float32, CPU>, %u:tensor<[2, 4, 3, 2], Float32, CPU>, %x:tensor<[2, 4, 3, 2], Float32, CPU>) {
  linalg.CPU.MatMulOp [transpose_b:true] (%q, %k) -> (%s)
  linalg.CPU.AddOp (%s, %m) -> (%t)
  linalg.CPU.SoftmaxOp [axis:3] (%t) -> (%p)
  linalg.CPU.MatMulOp [transpose_b:false] (%p, %k) -> (%o)
  linalg.CPU.MatMulOp [transpose_b:true] (%o, %k) -> (%s2)
  linalg.CPU.AddOp (%s2, %n) -> (%t2)
  linalg.CPU.SoftmaxOp [axis:3] (%t2) -> (%p2)
  linalg.CPU.MatMulOp [transpose_b:false] (%p2, %k) -> (%u)
  linalg.CPU.MatMulOp [transpose_b:true] (%u, %k) -> (%s3)
  linalg.CPU.AddOp (%s3, %l) -> (%t3)
  linalg.CPU.SoftmaxOp [axis:3] (%t3) -> (%p3)
  linalg.CPU.MatMulOp [transpose_b:false] (%p3, %k) -> (%x)
  cf.ReturnOp (%o, %u, %x) -> ()
}
)",
       {{2, 4, 3, 2}, {2, 2, 5, 2}, {3, 5}, {4, 1, 5}, {5}},
       3},
      {"a mask and a scale as first operands; a mask that may be taken for scores",
       R"(
@main [mir_version:1] (%q:tensor<[2, 4, 3, 2], Float32, CPU>, %k:tensor<[2, 2, 5, 2], Float32, CPU>, %m:tensor<[2, 4, 3, 5], Float32, CPU>) -> (%o:tensor<[2, 4, 3, 2], Float32, CPU>, %u:tensor<[2, 4, 3, 2], Float32, CPU>) {
  linalg.CPU.MatMulOp [transpose_b:true] (%q, %k) -> (%s)
  linalg.CPU.MulOp (%c:tensor<[1], Float32, CPU>[constant:[1.5]], %s) -> (%d)
  linalg.CPU.AddOp (%m, %d) -> (%t)
  linalg.CPU.SoftmaxOp [axis:3] (%t) -> (%p)
  linalg.CPU.MatMulOp [transpose_b:false] (%p, %k) -> (%o)
  linalg.CPU.MulOp (%m, %c:tensor<[1], Float32, CPU>[constant:[1.5]]) -> (%m2)
  linalg.CPU.MatMulOp [transpose_b:true] (%o, %k) -> (%s2)
  linalg.CPU.AddOp (%m2, %s2) -> (%t2)
  linalg.CPU.SoftmaxOp [axis:3] (%t2) -> (%p2)
  linalg.CPU.MatMulOp [transpose_b:false] (%p2, %k) -> (%u)
  cf.ReturnOp (%o, %u) -> ()
}
)",
       {{2, 4, 3, 2}, {2, 2, 5, 2}, {2, 4, 3, 5}},
       2},
      {"masks of truth values, for heads and for all",
       R"(
@main [mir_version:1] (%q:tensor<[2, 4, 3, 2], Float32, CPU>, %k:tensor<[2, 2, 5, 2], Float32, CPU>, %m:tensor<[4, 3, 5], Float32, CPU>, %l:tensor<[5], Float32, CPU>) -> (%o:tensor<[2, 4, 3, 2], Float32, CPU>, %u:tensor<[2, 4, 3, 2], Float32, CPU>, %x:tensor<[2, 4, 3, 2], Float32, CPU>) {
  linalg.CPU.GreaterOp (%m, %z:tensor<[1], Float32, CPU>[constant:[0]]) -> (%mb)
  linalg.CPU.GreaterOp (%l, %z) -> (%lb)
  linalg.CPU.MatMulOp [transpose_b:true] (%q, %k) -> (%s)
  linalg.CPU.WhereOp (%mb, %s, %n:tensor<[1], Float32, CPU>[constant:[-1e9]]) -> (%t)
  linalg.CPU.SoftmaxOp [axis:3] (%t) -> (%p)
  linalg.CPU.MatMulOp [transpose_b:false] (%p, %k) -> (%o)
  linalg.CPU.MatMulOp [transpose_b:true] (%q, %k) -> (%s2)
  linalg.CPU.MulOp (%s2, %c:tensor<[1], Float32, CPU>[constant:[1.5]]) -> (%d2)
  linalg.CPU.WhereOp (%mb, %d2, %f:tensor<[1], Float32, CPU>[constant:[0.25]]) -> (%t2)
  linalg.CPU.SoftmaxOp [axis:3] (%t2) -> (%p2)
  linalg.CPU.MatMulOp [transpose_b:false] (%p2, %k) -> (%u)
  linalg.CPU.MatMulOp [transpose_b:true] (%q, %k) -> (%s3)
  linalg.CPU.WhereOp (%lb, %s3, %i:tensor<[1], Float32, CPU>[constant:[-inf]]) -> (%t3)
  linalg.CPU.SoftmaxOp [axis:3] (%t3) -> (%p3)
  linalg.CPU.MatMulOp [transpose_b:false] (%p3, %k) -> (%x)
  cf.ReturnOp (%o, %u, %x) -> ()
}
)",
       {{2, 4, 3, 2}, {2, 2, 5, 2}, {4, 3, 5}, {5}},
       3},
      {"heads without batches: repeated, masked, causal, and keys that lie in another order",
       R"(
@main [mir_version:1] (%q:tensor<[4, 3, 2], Float32, CPU>, %k:tensor<[5, 2, 2], Float32, CPU>, %m:tensor<[3, 5], Float32, CPU>) -> (%o:tensor<[4, 3, 2], Float32, CPU>, %u:tensor<[4, 3, 2], Float32, CPU>) {
  linalg.CPU.PermuteOp [axis:[1, 0, 2]] (%k) -> (%t)
  linalg.CPU.MatMulOp [transpose_b:true] (%q, %t) -> (%s)
  linalg.CPU.AddOp (%s, %m) -> (%a)
  linalg.CPU.SoftmaxOp [axis:2] (%a) -> (%p)
  linalg.CPU.MatMulOp [transpose_b:false] (%p, %t) -> (%o)
  linalg.CPU.MatMulOp [transpose_b:true] (%q, %t) -> (%s2)
  linalg.CPU.MulOp (%s2, %c:tensor<[1], Float32, CPU>[constant:[1.5]]) -> (%d2)
  linalg.CPU.CausalMaskOp (%d2) -> (%a2)
  linalg.CPU.SoftmaxOp [axis:-1] (%a2) -> (%p2)
  linalg.CPU.MatMulOp [transpose_b:false] (%p2, %t) -> (%u)
  cf.ReturnOp (%o, %u) -> ()
}
)",
       {{4, 3, 2}, {5, 2, 2}, {3, 5}},
       2},
      {"keys and values by columns",
       R"(
@main [mir_version:1] (%q:tensor<[1, 4, 3, 2], Float32, CPU>, %k:tensor<[1, 2, 2, 5], Float32, CPU>, %v:tensor<[1, 2, 6, 5], Float32, CPU>) -> (%o:tensor<[1, 4, 3, 6], Float32, CPU>) {
  linalg.CPU.MatMulOp [transpose_b:false] (%q, %k) -> (%s)
  linalg.CPU.SoftmaxOp [axis:-1] (%s) -> (%p)
  linalg.CPU.MatMulOp [transpose_b:true] (%p, %v) -> (%o)
  cf.ReturnOp (%o) -> ()
}
)",
       {{1, 4, 3, 2}, {1, 2, 2, 5}, {1, 2, 6, 5}},
       1},
      {"rotation of what is no row in memory, written in another order",
       R"(
@main [mir_version:1] (%x:tensor<[1, 4, 3, 2], Float32, CPU>, %sin:tensor<[3, 4], Float32, CPU>, %cos:tensor<[1, 3, 4], Float32, CPU>) -> (%y:tensor<[1, 3, 2, 4], Float32, CPU>) {
  linalg.CPU.PermuteOp [axis:[0, 3, 2, 1]] (%x) -> (%t)
  linalg.CPU.RoPEOp [input_type:BHSD] (%t, %sin, %cos) -> (%r)
  linalg.CPU.TransposeOp [dim0:1, dim1:2] (%r) -> (%y)
  cf.ReturnOp (%y) -> ()
}
)",
       {{1, 4, 3, 2}, {3, 4}, {1, 3, 4}},
       0},
  };
  for (const Case& each : cases) {
    CAPTURE(each.what);
    std::vector<Tensor> inputs;
    for (const Shape& shape : each.inputs) inputs.push_back(pattern(shape));
    Runner ref(each.text), runner(each.text, fast());
    CHECK(count_of(runner.plan().node_names(), "attention") == each.attentions);
    check_close(runner.run(inputs), ref.run(inputs));
  }
}

TEST_CASE(
    "fast: parts, products and convolutions are nodes of their own, and views need no copies") {
  struct Case {
    const char* what;
    std::string text;
    std::vector<Shape> inputs;
    std::vector<std::string> nodes;
  };
  const Case cases[] = {
      {"parts of parts, steps of several, a bound that is a symbol",
       R"(
@main [mir_version:1] (%x:tensor<[1, $S, 8], Float32, CPU>) -> (%y:tensor<[1, $S, 16], Float32, CPU>) {
  linalg.CPU.SplitOp [dim:2, split_size_or_sections:[2, 6]] (%x) -> (%a:tensor<[1, $S, 2], Float32, CPU>, %b:tensor<[1, $S, 6], Float32, CPU>)
  linalg.CPU.SliceOp [indices:[all, {start:0, end:$S}, {start:1, end:6, step:2}]] (%b) -> (%c:tensor<[1, $S, 3], Float32, CPU>)
  linalg.CPU.RepeatOp [dim:2, repeat_times:3] (%a) -> (%d:tensor<[1, $S, 6], Float32, CPU>)
  linalg.CPU.StackOp [dim:2] (%d, %d) -> (%e:tensor<[1, $S, 2, 6], Float32, CPU>)
  linalg.CPU.ViewOp (%e) -> (%f:tensor<[1, $S, 12], Float32, CPU>)
  linalg.CPU.SliceOp [indices:[all, all, {start:-1, end:0}]] (%x) -> (%g:tensor<[1, $S, 1], Float32, CPU>)
  linalg.CPU.ConcatOp [dim:-1] (%g, %c, %f) -> (%y)
  cf.ReturnOp (%y) -> ()
}
)",
       {{1, 5, 8}},
       {"Split", "Slice", "Repeat", "Stack", "Slice", "Concat"}},
      {"a product of transposed views, written for a view of its own",
       R"(
@main [mir_version:1] (%q:tensor<[2, 5, 4, 3], Float32, CPU>, %k:tensor<[2, 7, 2, 3], Float32, CPU>) -> (%y:tensor<[2, 5, 28], Float32, CPU>) {
  linalg.CPU.TransposeOp [dim0:1, dim1:2] (%q) -> (%a:tensor<[2, 4, 5, 3], Float32, CPU>)
  linalg.CPU.PermuteOp [axis:[0, 2, 3, 1]] (%k) -> (%b:tensor<[2, 2, 3, 7], Float32, CPU>)
  linalg.CPU.MatMulOp [transpose_b:false] (%a, %b) -> (%c:tensor<[2, 4, 5, 7], Float32, CPU>)
  linalg.CPU.TransposeOp [dim0:1, dim1:2] (%c) -> (%d:tensor<[2, 5, 4, 7], Float32, CPU>)
  linalg.CPU.ViewOp (%d) -> (%y:tensor<[2, 5, 28], Float32, CPU>)
  cf.ReturnOp (%y) -> ()
}
)",
       {{2, 5, 4, 3}, {2, 7, 2, 3}},
       {"MatMul"}},
      {"patches are a product with packed weights, other convolutions are not",
       R"(
@main [mir_version:1] (%x:tensor<[$N, 3, 2, 4, 4], Float32, CPU>) -> (%y:tensor<[$N, 6, 2, 2], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%w:tensor<[16, 3, 2, 4, 4], Float32, CPU>[@patch.weight])[symbol:patch.weight]
      tensor.CPU.register () -> (%v:tensor<[6, 4, 3, 3], Float32, CPU>[@conv.weight])[symbol:conv.weight]
      tensor.CPU.register () -> (%b:tensor<[6], Float32, CPU>[@conv.bias])[symbol:conv.bias]
    }
  }
  linalg.CPU.Conv3DOp <name="patch"> [in_channels:3, out_channels:16, kernel_size:[2, 4, 4], stride:[2, 4, 4], bias:false] (%x) -> (%p:tensor<[$N, 16, 1, 1, 1], Float32, CPU>)
  linalg.CPU.ViewOp (%p) -> (%q:tensor<[$N, 4, 2, 2], Float32, CPU>)
  linalg.CPU.Conv2DOp <name="conv"> [in_channels:4, out_channels:6, kernel_size:[3, 3], padding:[1, 1], bias:true] (%q) -> (%y)
  cf.ReturnOp (%y) -> ()
}
)",
       {{3, 3, 2, 4, 4}},
       {"Conv of patches", "Conv"}},
      {"products with parameters and constants are packed, in both orders and through views",
       R"(
@main [mir_version:1] (%x:tensor<[2, $S, 4], Float32, CPU>) -> (%z:tensor<[2, $S, 2], Float32, CPU>, %t:tensor<[2, $S, 4], Float32, CPU>, %u:tensor<[2, 4, 4], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%w:tensor<[4, 4], Float32, CPU>[@square])[symbol:square]
      tensor.CPU.register () -> (%v:tensor<[2, 2, 2], Float32, CPU>[@blocks])[symbol:blocks]
      tensor.CPU.register () -> (%b:tensor<[2, 4, 4], Float32, CPU>[@batches])[symbol:batches]
    }
  }
  linalg.CPU.MatMulOp [transpose_b:true] (%x, %w:tensor<[4, 4], Float32, CPU>[@square]) -> (%p:tensor<[2, $S, 4], Float32, CPU>)
  linalg.CPU.MatMulOp [transpose_b:false] (%p, %w:tensor<[4, 4], Float32, CPU>[@square]) -> (%q:tensor<[2, $S, 4], Float32, CPU>)
  linalg.CPU.ViewOp [to_shape:[1, 2, 4]] (%v:tensor<[2, 2, 2], Float32, CPU>[@blocks]) -> (%m:tensor<[1, 2, 4], Float32, CPU>)
  linalg.CPU.MatMulOp [transpose_b:true] (%q, %m) -> (%r:tensor<[2, $S, 2], Float32, CPU>)
  linalg.CPU.MatMulOp [transpose_b:false] (%r, %c:tensor<[2, 2], Float32, CPU>[constant:[1.0, 2.0, -3.0, 0.5]]) -> (%z)
  linalg.CPU.MatMulOp [transpose_b:false] (%x, %b:tensor<[2, 4, 4], Float32, CPU>[@batches]) -> (%t)
  linalg.CPU.MatMulOp [transpose_a:true, transpose_b:false] (%x, %p) -> (%u)
  cf.ReturnOp (%z, %t, %u) -> ()
}
)",
       {{2, 3, 4}},
       {"packed MatMul", "packed MatMul", "packed MatMul", "packed MatMul", "MatMul", "MatMul"}},
      {"flash attention reads a cache where it lies",
       R"(
@main [mir_version:1] (%q:tensor<[1, $S, 4, 2], Float32, CPU>, %k:tensor<[1, $S, 2, 2], Float32, CPU>) -> (%y:tensor<[1, $S, 4, 2], Float32, CPU>) {
  linalg.CPU.KVCacheOp <name="kv"> [q_head:4, kv_head:2, head_dim:2, use_fa2:true, cache:@kv, past:$past] (%k, %k) -> (%a:tensor<[1, $past+$S, 2, 2], Float32, CPU>, %b:tensor<[1, $past+$S, 2, 2], Float32, CPU>)
  linalg.CPU.FlashAttention2Op [causal_mask:true] (%q, %a, %b) -> (%y)
  cf.ReturnOp (%y) -> ()
}
)",
       {{1, 3, 4, 2}, {1, 3, 2, 2}},
       {"KVCache", "attention"}},
      {"flash attention with fewer keys than queries sees none for the first ones",
       R"(
@main [mir_version:1] (%q:tensor<[1, 4, 2, 3], Float32, CPU>, %k:tensor<[1, 3, 1, 3], Float32, CPU>) -> (%y:tensor<[1, 4, 2, 3], Float32, CPU>, %z:tensor<[1, 4, 2, 3], Float32, CPU>) {
  linalg.CPU.FlashAttention2Op [causal_mask:true] (%q, %k, %k) -> (%y)
  linalg.CPU.FlashAttention2Op [causal_mask:false] (%q, %k, %k) -> (%z)
  cf.ReturnOp (%y, %z) -> ()
}
)",
       {{1, 4, 2, 3}, {1, 3, 1, 3}},
       {"attention", "attention"}},
  };
  for (const Case& each : cases) {
    CAPTURE(each.what);
    std::vector<Tensor> inputs;
    for (const Shape& shape : each.inputs) inputs.push_back(pattern(shape));
    Runner ref(each.text), runner(each.text, fast());
    CHECK(runner.plan().node_names() == each.nodes);
    check_close(runner.run(inputs), ref.run(inputs));
    // Caches hold the first run's tokens then.
    check_close(runner.run(inputs), ref.run(inputs));
  }
}

TEST_CASE("fast: a convolution is one of patches where the kernel covers the images alone") {
  struct Case {
    const char *op, *x, *weight, *attributes, *y, *node;
  };
  const Case cases[] = {
      {"Conv2DOp", "2, 4, 4", "4, 2, 4, 4", "kernel_size:[4, 4], stride:[4, 4], padding:[0, 0]",
       "4, 1, 1", "Conv of patches"},
      {"Conv2DOp", "2, 4, 4", "4, 2, 4, 4", "kernel_size:[4, 4]", "4, 1, 1", "Conv of patches"},
      {"Conv2DOp", "2, 4, 4", "4, 2, 4, 4", "kernel_size:[4, 4], stride:[3, 3]", "4, 1, 1",
       "Conv of patches"},
      {"Conv2DOp", "2, 4, 4", "4, 2, 4, 3", "kernel_size:[4, 3]", "4, 1, 2", "Conv"},
      {"Conv2DOp", "2, 4, 4", "4, 2, 3, 4", "kernel_size:[3, 4]", "4, 2, 1", "Conv"},
      {"Conv2DOp", "2, 4, 4", "4, 2, 4, 4", "kernel_size:[4, 4], padding:[0, 1]", "4, 1, 3",
       "Conv"},
      {"Conv2DOp", "2, 4, 4", "4, 2, 4, 4", "kernel_size:[4, 4], padding:[1, 0]", "4, 3, 1",
       "Conv"},
      {"Conv1DOp", "2, 4", "4, 1, 4", "kernel_size:4, groups:2", "4, 1", "Conv"},
      {"Conv1DOp", "2, 4", "4, 2, 4", "kernel_size:4, groups:1", "4, 1", "Conv of patches"},
      {"Conv2DOp", "2, 4, 4", "4, 2, 3, 3", "kernel_size:[3, 3], stride:[2, 2], padding:[1, 1]",
       "4, 2, 2", "Conv"},
      {"Conv2DOp", "2, 4, 4", "4, 2, 2, 2",
       "kernel_size:[2, 2], stride:[2, 1], padding:[0, 1], dilation:[1, 2]", "4, 2, 4", "Conv"},
      {"Conv2DOp", "2, 4, $L", "4, 2, 4, 4", "kernel_size:[4, 4]", "4, 1, $L-3", "Conv"},
      {"Conv1DOp", "2, 4", "4, 2, 4", "kernel_size:4", "4, 1", "Conv of patches"},
      {"Conv1DOp", "2, 4", "4, 2, 3", "kernel_size:3, dilation:1", "4, 2", "Conv"},
      {"Conv3DOp", "2, 4, 4, 4", "4, 2, 4, 4, 4", "kernel_size:[4, 4, 4], stride:[4, 4, 4]",
       "4, 1, 1, 1", "Conv of patches"},
      {"Conv3DOp", "2, 4, 4, 4", "4, 2, 3, 4, 4", "kernel_size:[3, 4, 4], stride:[1, 1, 1]",
       "4, 2, 1, 1", "Conv"},
  };
  for (const Case& each : cases) {
    const std::string text = fmt::format(
        "@main [mir_version:1] (%x:tensor<[$N, {1}], Float32, CPU>) -> (%y:tensor<[$N, {4}], "
        "Float32, CPU>) {{\ngraph.SubGraphOp @init <CPU> {{\n() -> () {{\n"
        "tensor.CPU.register () -> (%w:tensor<[{2}], Float32, CPU>[@c.weight])[symbol:c.weight]\n"
        "tensor.CPU.register () -> (%b:tensor<[4], Float32, CPU>[@c.bias])[symbol:c.bias]\n}}\n}}\n"
        "linalg.CPU.{0} <name=\"c\"> [in_channels:2, out_channels:4, {3}, bias:true] (%x) -> "
        "(%y)\ncf.ReturnOp (%y) -> ()\n}}\n",
        each.op, each.x, each.weight, each.attributes, each.y);
    CAPTURE(text);
    Shape shape = {3, 2};
    shape.resize(
        1 + static_cast<std::size_t>(std::ranges::count(std::string_view(each.x), ',')) + 1, 4);
    Runner ref(text), runner(text, fast());
    CHECK(runner.plan().node_names() == std::vector<std::string>{each.node});
    check_close(runner.run({pattern(shape)}), ref.run({pattern(shape)}));
  }
}

TEST_CASE(
    "fast: a product with a packed factor has the bits of one with a factor that is computed") {
  const std::string parameter = "%w:tensor<[20, 300], Float32, CPU>[@w]";
  const auto text = [&](std::string_view factor) {
    return fmt::format(
        "@main [mir_version:1] (%x:tensor<[3, 300], Float32, CPU>, %one:tensor<[1], Float32, CPU>) "
        "-> (%y:tensor<[3, 20], Float32, CPU>, %z:tensor<[3, 300], Float32, CPU>) {{\n"
        "graph.SubGraphOp @init <CPU> {{\n() -> () {{\n"
        "tensor.CPU.register () -> ({0})[symbol:w]\n}}\n}}\n"
        "linalg.CPU.MulOp ({0}, %one) -> (%f:tensor<[20, 300], Float32, CPU>)\n"
        "linalg.CPU.MatMulOp [transpose_b:true] (%x, {1}) -> (%y)\n"
        "linalg.CPU.MatMulOp [transpose_b:false] (%y, {1}) -> (%z)\n"
        "cf.ReturnOp (%y, %z) -> ()\n}}\n",
        parameter, factor);
  };
  const std::vector<Tensor> inputs = {pattern({3, 300}), floats({1}, {1})};
  Runner packed(text(parameter), fast()), computed(text("%f"), fast());
  CHECK(count_of(packed.plan().node_names(), "packed MatMul") == 2);
  CHECK(count_of(computed.plan().node_names(), "MatMul") == 2);
  const auto found = packed.run(inputs), wanted = computed.run(inputs);
  for (std::size_t i = 0; i < 2; ++i) CHECK(hash_bytes(found[i]) == hash_bytes(wanted[i]));
}

TEST_CASE("fast: a run reports progress and can be stopped") {
  Runner runner(kFeedForward, fast());
  const Tensor x = floats({1, 1, 8}, {1, 2, 3, -4, 5, 6, -7, 8});
  RunOptions options;
  std::size_t last = 0;
  options.progress = [&](std::size_t done, std::size_t total) {
    CHECK(done > last);
    CHECK(total == 7);
    last = done;
  };
  runner.run({x}, options);
  CHECK(last == 7);
  std::stop_source stop;
  stop.request_stop();
  RunOptions stopped;
  stopped.stop = stop.get_token();
  CHECK(runner.error({x}, stopped).starts_with("824 "));
}

}  // namespace mir::test::planned

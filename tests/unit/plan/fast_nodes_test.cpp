#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "../numeric.hpp"
#include "planned.hpp"

namespace mir::test {

TEST_CASE("fast: reductions, softmax along any dimension and all rotations are fast nodes") {
  const std::string text = R"(
@main [mir_version:1] (%x:tensor<[2, $S, 3, 8], Float32, CPU>, %t:tensor<[$S, 4], Float32, CPU>) -> (%a:tensor<[2, $S, 3, 8], Float32, CPU>, %b:tensor<[2, $S, 3, 8], Float32, CPU>, %c:tensor<[2, 3, 8], Float32, CPU>, %d:tensor<[2, $S, 3, 1], Float32, CPU>, %e:tensor<[1], Float32, CPU>, %f:tensor<[1, $S, 3, 8], Float32, CPU>, %g:tensor<[2, $S, 3, 8], Float32, CPU>, %h:tensor<[2, $S, 3, 8], Float32, CPU>) {
  linalg.CPU.VisionRoPEOp (%x:tensor<[2, $S, 3, 8], Float32, CPU>, %t:tensor<[$S, 4], Float32, CPU>, %t:tensor<[$S, 4], Float32, CPU>) -> (%a:tensor<[2, $S, 3, 8], Float32, CPU>)
  linalg.CPU.MultimodalRoPEOp [input_type:BSHD] (%x:tensor<[2, $S, 3, 8], Float32, CPU>, %t:tensor<[$S, 4], Float32, CPU>, %t:tensor<[$S, 4], Float32, CPU>) -> (%b:tensor<[2, $S, 3, 8], Float32, CPU>)
  linalg.CPU.MeanOp [dim:1] (%a:tensor<[2, $S, 3, 8], Float32, CPU>) -> (%c:tensor<[2, 3, 8], Float32, CPU>)
  linalg.CPU.ReduceMaxOp [dim:-1, keep_dim:true] (%a:tensor<[2, $S, 3, 8], Float32, CPU>) -> (%d:tensor<[2, $S, 3, 1], Float32, CPU>)
  linalg.CPU.ReduceSumOp [dim:all] (%a:tensor<[2, $S, 3, 8], Float32, CPU>) -> (%e:tensor<[1], Float32, CPU>)
  linalg.CPU.ReduceMinOp [dim:0, keep_dim:true] (%b:tensor<[2, $S, 3, 8], Float32, CPU>) -> (%f:tensor<[1, $S, 3, 8], Float32, CPU>)
  linalg.CPU.SoftmaxOp [axis:1] (%b:tensor<[2, $S, 3, 8], Float32, CPU>) -> (%g:tensor<[2, $S, 3, 8], Float32, CPU>)
  linalg.CPU.SoftmaxOp [axis:-2] (%b:tensor<[2, $S, 3, 8], Float32, CPU>) -> (%h:tensor<[2, $S, 3, 8], Float32, CPU>)
  cf.ReturnOp (%a:tensor<[2, $S, 3, 8], Float32, CPU>, %b:tensor<[2, $S, 3, 8], Float32, CPU>, %c:tensor<[2, 3, 8], Float32, CPU>, %d:tensor<[2, $S, 3, 1], Float32, CPU>, %e:tensor<[1], Float32, CPU>, %f:tensor<[1, $S, 3, 8], Float32, CPU>, %g:tensor<[2, $S, 3, 8], Float32, CPU>, %h:tensor<[2, $S, 3, 8], Float32, CPU>) -> ()
}
)";
  Runner runner(text, fast()), reference(text);
  for (const std::string& name : runner.plan().node_names()) {
    CHECK(name != test::Part{"(ref)"});
  }
  const std::vector<Tensor> inputs = {pattern({2, 5, 3, 8}), pattern({5, 4})};
  check_close(runner.run(inputs), reference.run(inputs));
}

TEST_CASE("fast: choices, comparisons, conversions and elementary functions are fast nodes") {
  const std::string text = R"(
@main [mir_version:1] (%x:tensor<[2, $S, 8], Float32, CPU>, %y:tensor<[1, 8], Float32, CPU>) -> (%w:tensor<[2, $S, 8], Float32, CPU>, %m:tensor<[2, $S, 8], Float32, CPU>, %e:tensor<[2, $S, 8], Bool, CPU>, %h:tensor<[2, $S, 8], Float16, CPU>, %i:tensor<[2, $S, 8], Int32, CPU>, %s:tensor<[2, $S, 8], Float32, CPU>, %c:tensor<[2, $S, 8], Float32, CPU>, %l:tensor<[2, $S, 8], Float32, CPU>) {
  linalg.CPU.EqualOp (%x:tensor<[2, $S, 8], Float32, CPU>, %y:tensor<[1, 8], Float32, CPU>) -> (%e:tensor<[2, $S, 8], Bool, CPU>)
  linalg.CPU.WhereOp (%e:tensor<[2, $S, 8], Bool, CPU>, %x:tensor<[2, $S, 8], Float32, CPU>, %y:tensor<[1, 8], Float32, CPU>) -> (%w:tensor<[2, $S, 8], Float32, CPU>)
  linalg.CPU.MaskedScatterOp (%x:tensor<[2, $S, 8], Float32, CPU>, %e:tensor<[2, $S, 8], Bool, CPU>, %0:tensor<[1], Float32, CPU>[constant:[5]]) -> (%m:tensor<[2, $S, 8], Float32, CPU>)
  linalg.CPU.CastTypeOp [dtype:Float16] (%x:tensor<[2, $S, 8], Float32, CPU>) -> (%h:tensor<[2, $S, 8], Float16, CPU>)
  linalg.CPU.CastTypeOp [dtype:Int32] (%x:tensor<[2, $S, 8], Float32, CPU>) -> (%i:tensor<[2, $S, 8], Int32, CPU>)
  linalg.CPU.SinOp (%x:tensor<[2, $S, 8], Float32, CPU>) -> (%s:tensor<[2, $S, 8], Float32, CPU>)
  linalg.CPU.CosOp (%s:tensor<[2, $S, 8], Float32, CPU>) -> (%1:tensor<[2, $S, 8], Float32, CPU>)
  linalg.CPU.ClipOp [min_val:0.9, max_val:0.95] (%1:tensor<[2, $S, 8], Float32, CPU>) -> (%c:tensor<[2, $S, 8], Float32, CPU>)
  linalg.CPU.LogOp (%c:tensor<[2, $S, 8], Float32, CPU>) -> (%l:tensor<[2, $S, 8], Float32, CPU>)
  cf.ReturnOp (%w:tensor<[2, $S, 8], Float32, CPU>, %m:tensor<[2, $S, 8], Float32, CPU>, %e:tensor<[2, $S, 8], Bool, CPU>, %h:tensor<[2, $S, 8], Float16, CPU>, %i:tensor<[2, $S, 8], Int32, CPU>, %s:tensor<[2, $S, 8], Float32, CPU>, %c:tensor<[2, $S, 8], Float32, CPU>, %l:tensor<[2, $S, 8], Float32, CPU>) -> ()
}
)";
  Runner runner(text, fast()), reference(text);
  for (const std::string& name : runner.plan().node_names()) {
    CHECK(name != test::Part{"(ref)"});
  }
  // The first row of x is y, so there is something equal.
  const std::vector<Tensor> inputs = {pattern({2, 11, 8}), pattern({1, 8})};
  check_close(runner.run(inputs), reference.run(inputs));
}

TEST_CASE("fast: picking, copying into a value and filling are fast nodes") {
  const std::string text = R"(
@main [mir_version:1] (%x:tensor<[3, $S, 4], Float32, CPU>, %y:tensor<[2, 4], Float32, CPU>, %i:tensor<[2, 3], Int64, CPU>, %j:tensor<[2], Int32, CPU>) -> (%a:tensor<[3, 2, 3, 4], Float32, CPU>, %b:tensor<[2, 3, $S, 4], Float32, CPU>, %c:tensor<[3, $S, 2], Float32, CPU>, %d:tensor<[2, 2, 2, 3], Float32, CPU>, %e:tensor<[3, $S, 4], Float32, CPU>, %g:tensor<[3, $S, 4], Float32, CPU>, %h:tensor<[3, $S, 4], Float32, CPU>) {
  linalg.CPU.GatherOp [dim:1] (%x:tensor<[3, $S, 4], Float32, CPU>, %i:tensor<[2, 3], Int64, CPU>) -> (%a:tensor<[3, 2, 3, 4], Float32, CPU>)
  linalg.CPU.GatherOp [dim:0] (%x:tensor<[3, $S, 4], Float32, CPU>, %i:tensor<[2, 3], Int64, CPU>) -> (%b:tensor<[2, 3, $S, 4], Float32, CPU>)
  linalg.CPU.GatherOp [dim:-1] (%x:tensor<[3, $S, 4], Float32, CPU>, %j:tensor<[2], Int32, CPU>) -> (%c:tensor<[3, $S, 2], Float32, CPU>)
  linalg.CPU.IndexOp [indices:[[2, 0], {"start":1,"end":5,"step":3}, 1]] (%x:tensor<[3, $S, 4], Float32, CPU>, %i:tensor<[2, 3], Int64, CPU>) -> (%d:tensor<[2, 2, 2, 3], Float32, CPU>)
  linalg.CPU.NegOp (%x:tensor<[3, $S, 4], Float32, CPU>) -> (%n:tensor<[3, $S, 4], Float32, CPU>)
  linalg.CPU.CopyOp [indices:[{"start":1,"end":3}, {"start":2,"end":3}, {}]] (%y:tensor<[2, 4], Float32, CPU>, %n:tensor<[3, $S, 4], Float32, CPU>) -> (%e:tensor<[3, $S, 4], Float32, CPU>)
  linalg.CPU.CopyOp [indices:[{"start":0,"end":1}, {"start":0,"end":2}, {}]] (%y:tensor<[2, 4], Float32, CPU>, %e:tensor<[3, $S, 4], Float32, CPU>) -> (%f:tensor<[3, $S, 4], Float32, CPU>)
  linalg.CPU.CopyOp [indices:[{}, {}, {"start":0,"end":4,"step":2}]] (%c:tensor<[3, $S, 2], Float32, CPU>, %f:tensor<[3, $S, 4], Float32, CPU>) -> (%g:tensor<[3, $S, 4], Float32, CPU>)
  linalg.CPU.FillOp [type:specific, value:0.75] (%n:tensor<[3, $S, 4], Float32, CPU>) -> (%h:tensor<[3, $S, 4], Float32, CPU>)
  cf.ReturnOp (%a:tensor<[3, 2, 3, 4], Float32, CPU>, %b:tensor<[2, 3, $S, 4], Float32, CPU>, %c:tensor<[3, $S, 2], Float32, CPU>, %d:tensor<[2, 2, 2, 3], Float32, CPU>, %e:tensor<[3, $S, 4], Float32, CPU>, %g:tensor<[3, $S, 4], Float32, CPU>, %h:tensor<[3, $S, 4], Float32, CPU>) -> ()
}
)";
  Runner runner(text, fast()), reference(text);
  for (const std::string& name : runner.plan().node_names()) {
    CHECK(name != test::Part{"(ref)"});
  }
  const auto inputs = [](double index) {
    return std::vector<Tensor>{pattern({3, 5, 4}), pattern({2, 4}),
                               tensor(DType::kInt64, {2, 3}, {0, 2, -3, 1, 1, index}),
                               tensor(DType::kInt32, {2}, {3, -4})};
  };
  check_close(runner.run(inputs(-1)), reference.run(inputs(-1)));
  // An index that one of the tables does not have.
  CHECK(runner.error(inputs(3)) == reference.error(inputs(3)));
  CHECK(runner.error(inputs(3)).starts_with("803 "));
}

TEST_CASE("fast: margins and the largest elements are fast nodes") {
  const std::string text = R"(
@main [mir_version:1] (%x:tensor<[3, $S, 4], Float32, CPU>, %i:tensor<[1, 3], Int64, CPU>) -> (%a:tensor<[5, 3 + $S, 4], Float32, CPU>, %b:tensor<[3, 5 + $S, 14], Float32, CPU>, %c:tensor<[3, 3 + $S, 9], Float32, CPU>, %d:tensor<[4, $S, 17], Float32, CPU>, %e:tensor<[1, 5], Int64, CPU>, %f:tensor<[3, $S, 2], Float32, CPU>, %g:tensor<[3, $S, 2], Int32, CPU>, %h:tensor<[3, 3, 4], Float32, CPU>, %j:tensor<[3, 3, 4], Int32, CPU>) {
  linalg.CPU.NegOp (%x:tensor<[3, $S, 4], Float32, CPU>) -> (%n:tensor<[3, $S, 4], Float32, CPU>)
  linalg.CPU.PadOp [pad:[0, 0, 1, 2, 2, 0], value:0.75] (%n:tensor<[3, $S, 4], Float32, CPU>) -> (%a:tensor<[5, 3 + $S, 4], Float32, CPU>)
  linalg.CPU.PadOp [pad:[7, 3, 4, 1], mode:reflect] (%n:tensor<[3, $S, 4], Float32, CPU>) -> (%b:tensor<[3, 5 + $S, 14], Float32, CPU>)
  linalg.CPU.PadOp [pad:[2, 3, 3, 0], mode:replicate] (%n:tensor<[3, $S, 4], Float32, CPU>) -> (%c:tensor<[3, 3 + $S, 9], Float32, CPU>)
  linalg.CPU.PadOp [pad:[3, 10, 0, 0, 0, 1], mode:circular] (%n:tensor<[3, $S, 4], Float32, CPU>) -> (%d:tensor<[4, $S, 17], Float32, CPU>)
  linalg.CPU.PadOp [pad:[1, 1], value:-7] (%i:tensor<[1, 3], Int64, CPU>) -> (%e:tensor<[1, 5], Int64, CPU>)
  linalg.CPU.TopKOp [k:2] (%n:tensor<[3, $S, 4], Float32, CPU>) -> (%f:tensor<[3, $S, 2], Float32, CPU>, %g:tensor<[3, $S, 2], Int32, CPU>)
  linalg.CPU.TopKOp [k:3, dim:1, largest:false, sorted:false] (%n:tensor<[3, $S, 4], Float32, CPU>) -> (%h:tensor<[3, 3, 4], Float32, CPU>, %j:tensor<[3, 3, 4], Int32, CPU>)
  cf.ReturnOp (%a:tensor<[5, 3 + $S, 4], Float32, CPU>, %b:tensor<[3, 5 + $S, 14], Float32, CPU>, %c:tensor<[3, 3 + $S, 9], Float32, CPU>, %d:tensor<[4, $S, 17], Float32, CPU>, %e:tensor<[1, 5], Int64, CPU>, %f:tensor<[3, $S, 2], Float32, CPU>, %g:tensor<[3, $S, 2], Int32, CPU>, %h:tensor<[3, 3, 4], Float32, CPU>, %j:tensor<[3, 3, 4], Int32, CPU>) -> ()
}
)";
  Runner runner(text, fast()), reference(text);
  for (const std::string& name : runner.plan().node_names()) {
    CHECK(name != test::Part{"(ref)"});
  }
  const std::vector<Tensor> inputs = {pattern({3, 5, 4}),
                                      tensor(DType::kInt64, {1, 3}, {4, -5, 6})};
  const auto found = runner.run(inputs), expected = reference.run(inputs);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(values_of(found[i]) == values_of(expected[i]));
  }
}

TEST_CASE("fast: margins of codes and codes that are filled in are the reference's") {
  const std::string text = R"(
@main [mir_version:1] (%x:tensor<[2, 3], UInt16PerTensorAsym, CPU>) -> (%a:tensor<[2, 5], UInt16PerTensorAsym, CPU>, %b:tensor<[2, 3], UInt16PerTensorAsym, CPU>) {
  linalg.CPU.PadOp [pad:[1, 1], mode:reflect] (%x:tensor<[2, 3], UInt16PerTensorAsym, CPU>) -> (%a:tensor<[2, 5], UInt16PerTensorAsym, CPU>)
  linalg.CPU.FillOp [type:zeros] (%x:tensor<[2, 3], UInt16PerTensorAsym, CPU>) -> (%b:tensor<[2, 3], UInt16PerTensorAsym, CPU>)
  cf.ReturnOp (%a:tensor<[2, 5], UInt16PerTensorAsym, CPU>, %b:tensor<[2, 3], UInt16PerTensorAsym, CPU>) -> ()
}
)";
  Runner runner(text, fast()), reference(text);
  const std::vector<Tensor> inputs = {*Tensor::allocate(DType::kUInt16PerTensorAsym, {2, 3})};
  const auto found = runner.run(inputs), expected = reference.run(inputs);
  REQUIRE(found.size() == 2);
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(std::ranges::equal(found[i].bytes(), expected[i].bytes()));
  }
}

/// Codes of 8 bits per tensor, with and without an offset, times weights of 8 bits: per channel,
/// and per tensor with input channels first; then codes of 16 bits, which are no case for integers.
const char* const kByteCodes = R"(
#a = QuantSpec(AsymPerTensor(quant_min: 0, quant_max: 255, quant_to_type: UInt8, scale_type: Float32, zero_point_type: Int32), uuid=1, solved=1)
#w = QuantSpec(SymPerChannel(quant_min: -127, quant_max: 127, ch_axis: 0, quant_to_type: Int8, scale_type: Float32), uuid=2, solved=1)
#b = QuantSpec(SymPerTensor(quant_min: -127, quant_max: 127, quant_to_type: Int8, scale_type: Float32), uuid=3, solved=1)
#c = QuantSpec(AsymPerTensor(quant_min: 0, quant_max: 65535, quant_to_type: UInt16, scale_type: Float32, zero_point_type: Int32), uuid=4, solved=1)
@main [mir_version:1] (%x:tensor<[1, $S, 70], UInt8PerTensor, CPU>[quant_recipe:#a, quant_scale:0.02, quant_zero_point:113], %z:tensor<[1, $S, 70], UInt16PerTensor, CPU>[quant_recipe:#c, quant_scale:0.001, quant_zero_point:32768], %y:tensor<[1, $S, 70], Int8PerTensor, CPU>[quant_recipe:#b, quant_scale:0.02]) -> (%1:tensor<[1, $S, 40], UInt8PerTensor, CPU>[quant_recipe:#a, quant_scale:0.05, quant_zero_point:128], %2:tensor<[1, $S, 24], UInt8PerTensor, CPU>[quant_recipe:#a, quant_scale:0.02, quant_zero_point:120], %3:tensor<[1, $S, 40], UInt16PerTensor, CPU>[quant_recipe:#c, quant_scale:0.0005, quant_zero_point:32768], %4:tensor<[1, $S, 40], Int8PerTensor, CPU>[quant_recipe:#b, quant_scale:0.05]) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%n:tensor<[40, 70], Int8PerChannel, CPU>[@first.weight][quant_recipe:#w])[symbol:first.weight]
      tensor.CPU.register () -> (%m:tensor<[40], Int8PerTensor, CPU>[@first.bias][quant_recipe:#b])[symbol:first.bias]
      tensor.CPU.register () -> (%o:tensor<[40, 24], Int8PerTensor, CPU>[@second.weight][quant_recipe:#b])[symbol:second.weight]
      tensor.CPU.register () -> (%p:tensor<[40, 70], Int8PerChannel, CPU>[@third.weight][quant_recipe:#w])[symbol:third.weight]
      tensor.CPU.register () -> (%q:tensor<[40, 70], Int8PerChannel, CPU>[@fourth.weight][quant_recipe:#w])[symbol:fourth.weight]
    }
  }
  linalg.CPU.LinearOp <name="first"> [in_channels:70, out_channels:40, bias:true] (%x:tensor<[1, $S, 70], UInt8PerTensor, CPU>) -> (%1:tensor<[1, $S, 40], UInt8PerTensor, CPU>[quant_recipe:#a, quant_scale:0.05, quant_zero_point:128])
  linalg.CPU.LinearOp <name="second"> [in_channels:40, out_channels:24, bias:false, impl_type:"QNN Linear per-tensor symmectrical W8A8"] (%1:tensor<[1, $S, 40], UInt8PerTensor, CPU>) -> (%2:tensor<[1, $S, 24], UInt8PerTensor, CPU>[quant_recipe:#a, quant_scale:0.02, quant_zero_point:120])
  linalg.CPU.LinearOp <name="third"> [in_channels:70, out_channels:40, bias:false] (%z:tensor<[1, $S, 70], UInt16PerTensor, CPU>) -> (%3:tensor<[1, $S, 40], UInt16PerTensor, CPU>[quant_recipe:#c, quant_scale:0.0005, quant_zero_point:32768])
  linalg.CPU.LinearOp <name="fourth"> [in_channels:70, out_channels:40, bias:false] (%y:tensor<[1, $S, 70], Int8PerTensor, CPU>) -> (%4:tensor<[1, $S, 40], Int8PerTensor, CPU>[quant_recipe:#b, quant_scale:0.05])
  cf.ReturnOp (%1:tensor<[1, $S, 40], UInt8PerTensor, CPU>, %2:tensor<[1, $S, 24], UInt8PerTensor, CPU>, %3:tensor<[1, $S, 40], UInt16PerTensor, CPU>, %4:tensor<[1, $S, 40], Int8PerTensor, CPU>) -> ()
}
)";

TEST_CASE("fast: products of codes of 8 bits are sums of integers") {
  std::vector<double> bytes, words, whole;
  for (int i = 0; i < 6 * 70; ++i) {
    bytes.push_back(i * 7919 % 251);
    whole.push_back(i * 7919 % 251 - 125);
    words.push_back(32768 + i * 7919 % 2001 - 1000);
  }
  const std::vector<Tensor> inputs = {tensor(DType::kUInt8PerTensor, {1, 6, 70}, bytes),
                                      tensor(DType::kUInt16PerTensor, {1, 6, 70}, words),
                                      tensor(DType::kInt8PerTensor, {1, 6, 70}, whole)};
  Runner runner(kByteCodes, fast()), reference(kByteCodes);
  CHECK(fmt::format("{}", fmt::join(runner.plan().node_names(), ", ")) ==
        "Linear of codes, quantise, Linear of codes, quantise, dequantise, Linear, quantise, "
        "Linear of codes, quantise");
  const auto found = runner.run(inputs), expected = reference.run(inputs);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto got = values_of(found[i]), want = values_of(expected[i]);
    CHECK(std::ranges::max(want) - std::ranges::min(want) > 20);
    CHECK(not_within(1, got, want) == "");
  }
}

TEST_CASE("fast: attention is a fast node where the width of a head is known before a run") {
  const auto text_of = [](const std::string& width) {
    const std::string type = ":tensor<[1, $S, 2, " + width + "], Float32, CPU>";
    return "@main [mir_version:1] (%q" + type + ", %k" + type + ", %v" + type + ") -> (%y" + type +
           ") {\nlinalg.CPU.FlashAttention2Op [causal_mask:true] (%q, %k, %v) -> (%y" + type +
           ")\ncf.ReturnOp (%y) -> ()\n}\n";
  };
  for (const std::string width : {"8", "$D", "$D + 4"}) {
    CAPTURE(width);
    Runner runner(text_of(width), fast()), reference(text_of(width));
    const bool is_reference = runner.plan().node_names()[0].find("(ref)") != std::string::npos;
    CHECK(is_reference == (width != "8"));
    const std::vector<Tensor> inputs(3, pattern({1, 5, 2, 8}));
    check_close(runner.run(inputs), reference.run(inputs));
  }
}

TEST_CASE("fast: a window applies to a single query where CausalMask asks for it") {
  const auto text_of = [](const std::string& option, bool is_fused) {
    const std::string heads = ":tensor<[1, 2, $S, 8], Float32, CPU>";
    const std::string keys = ":tensor<[1, 2, 5, 8], Float32, CPU>";
    const std::string scores = ":tensor<[1, 2, $S, 5], Float32, CPU>";
    return "@main [mir_version:1] (%q" + heads + ", %k" + keys + ") -> (%y" + heads +
           (is_fused ? "" : ", %m" + scores) +
           ") {\nlinalg.CPU.MatMulOp [transpose_b:true] (%q, %k) -> (%s" + scores +
           ")\nlinalg.CPU.CausalMaskOp [sliding_window:true, window_size:2" + option +
           "] (%s) -> (%m" + scores + ")\nlinalg.CPU.SoftmaxOp [axis:-1] (%m) -> (%p" + scores +
           ")\nlinalg.CPU.MatMulOp [transpose_b:false] (%p, %k) -> (%y" + heads +
           ")\ncf.ReturnOp (%y" + (is_fused ? "" : ", %m") + ") -> ()\n}\n";
  };
  const std::string kOption = ", masks_one_query:true";
  for (const bool is_fused : {false, true}) {
    for (const std::int64_t queries : {1, 3}) {
      CAPTURE(queries);
      const std::vector<Tensor> inputs = {pattern({1, 2, queries, 8}), pattern({1, 2, 5, 8})};
      Runner runner(text_of(kOption, is_fused), fast()), reference(text_of(kOption, is_fused));
      Runner without(text_of("", is_fused));
      check_close(runner.run(inputs), reference.run(inputs));
      const bool is_same = values_of(reference.run(inputs)[0]) == values_of(without.run(inputs)[0]);
      CHECK(is_same == (queries != 1));
    }
  }
}

TEST_CASE("fast: without verification, extents that do not fit are refused by the nodes") {
  const auto error_of = [](const std::string& inputs, const std::string& op,
                           const std::string& result) {
    CAPTURE(op);
    const Text read(
        fmt::format("@main [mir_version:1] ({0}) -> (%z:{2}) {{\n{1} -> (%z:{2})\n"
                    "cf.ReturnOp (%z:{2}) -> ()\n}}\n",
                    inputs, op, result));
    WeightSet weights;
    REQUIRE(weights.add("random:1"));
    RunnerOptions options = fast();
    options.weights = &weights;
    Diagnostics problems;
    auto session = Session::create(*read.module, options, problems);
    if (!session) return std::string("not created: ") + errors_of(problems).front();
    std::vector<std::string> given;
    for (auto at = inputs.find('%'); at != inputs.npos; at = inputs.find('%', at + 1)) {
      given.push_back(inputs.substr(at + 1, inputs.find(':', at) - at - 1) + "=random:1");
    }
    const auto values = load_inputs(*session, given, {});
    REQUIRE(values);
    const bool ran = session->run(*values, problems).has_value();
    CHECK(ran != problems.has_errors());
    return ran ? std::string("runs") : errors_of(problems).front();
  };
  const std::string kMargins = "500 the margins do not fit the result";
  const std::string kExtents = "500 extents of operands and result do not fit together";
  const auto pad = [&](const std::string& margins, const std::string& result) {
    return error_of("%x:tensor<[2, 3], Float32, CPU>",
                    "linalg.CPU.PadOp [pad:" + margins + "] (%x)",
                    "tensor<" + result + ", Float32, CPU>");
  };
  CHECK(pad("[1, 1]", "[2, 5]") == "runs");
  CHECK(pad("[1, 0, 0, 2]", "[4, 4]") == "runs");
  CHECK(pad("[1, 1]", "[2, 3]") == kMargins);
  CHECK(pad("[2, 0]", "[2, 4]") == kMargins);
  CHECK(pad("[-1, 0]", "[2, 2]") == kMargins);
  CHECK(pad("[-1, 1]", "[2, 3]") == kMargins);
  const auto conv = [&](const std::string& weight, const std::string& bias,
                        const std::string& result) {
    return error_of("%x:tensor<[1, 4, 6, 6], Float32, CPU>",
                    fmt::format("tensor.CPU.register () -> (%w:tensor<{}, Float32, "
                                "CPU>[@c.weight])[symbol:c.weight]\ntensor.CPU.register () -> "
                                "(%b:tensor<[{}], Float32, CPU>[@c.bias])[symbol:c.bias]\n"
                                "linalg.CPU.Conv2DOp <name=\"c\"> [in_channels:4, out_channels:6, "
                                "kernel_size:[3, 3], padding:[1, 1], bias:true] (%x)",
                                weight, bias),
                    "tensor<" + result + ", Float32, CPU>");
  };
  CHECK(conv("[6, 4, 3, 3]", "6", "[1, 6, 6, 6]") == "runs");
  CHECK(conv("[6, 4, 3, 2]", "6", "[1, 6, 6, 6]") == kExtents);
  CHECK(conv("[6, 4, 3, 4]", "6", "[1, 6, 6, 6]") == kExtents);
  CHECK(conv("[6, 4, 3, 3]", "5", "[1, 6, 6, 6]") == kExtents);
  CHECK(conv("[6, 4, 3, 3]", "6", "[1, 5, 6, 6]") == kExtents);
  CHECK(conv("[6, 4, 3, 3]", "6", "[2, 6, 6, 6]") == kExtents);
  CHECK(conv("[6, 4, 3, 3]", "6", "[1, 6, 6, 5]") == kExtents);
  // Batches, tokens, heads and width.
  const auto attention = [&](const std::string& q, const std::string& k, const std::string& v,
                             const std::string& result, const std::string& mask = "false") {
    return error_of(fmt::format("%q:tensor<[{}], Float32, CPU>, %k:tensor<[{}], Float32, CPU>, "
                                "%v:tensor<[{}], Float32, CPU>",
                                q, k, v),
                    "linalg.CPU.FlashAttention2Op [causal_mask:" + mask + "] (%q, %k, %v)",
                    "tensor<[" + result + "], Float32, CPU>");
  };
  const std::string kMisfit = "500 extents of queries, keys and values do not fit together";
  CHECK(attention("2, 3, 4, 8", "2, 5, 2, 8", "2, 5, 2, 6", "2, 3, 4, 6") == "runs");
  CHECK(attention("2, 3, 4, 8", "2, 5, 4, 8", "2, 5, 4, 8", "2, 3, 4, 8") == "runs");
  CHECK(attention("2, 3, 4, 8", "2, 3, 2, 8", "2, 3, 2, 8", "2, 3, 4, 8", "true") == "runs");
  CHECK(attention("2, 3, 4, 8", "1, 5, 2, 8", "1, 5, 2, 6", "2, 3, 4, 6") == kMisfit);
  CHECK(attention("2, 3, 4, 8", "2, 5, 2, 8", "1, 5, 2, 6", "2, 3, 4, 6") == kMisfit);
  CHECK(attention("2, 3, 4, 8", "2, 5, 2, 8", "2, 4, 2, 6", "2, 3, 4, 6") == kMisfit);
  CHECK(attention("2, 3, 4, 8", "2, 5, 2, 8", "2, 5, 1, 6", "2, 3, 4, 6") == kMisfit);
  CHECK(attention("2, 3, 4, 8", "2, 5, 2, 7", "2, 5, 2, 6", "2, 3, 4, 6") == kMisfit);
  CHECK(attention("2, 3, 4, 8", "2, 5, 3, 8", "2, 5, 3, 6", "2, 3, 4, 6") == kMisfit);
  CHECK(attention("2, 3, 4, 8", "2, 5, 8, 8", "2, 5, 8, 6", "2, 3, 4, 6") == kMisfit);
  CHECK(attention("2, 3, 4, 8", "2, 5, 2, 8", "2, 5, 2, 6", "1, 3, 4, 6") == kMisfit);
  CHECK(attention("2, 3, 4, 8", "2, 5, 2, 8", "2, 5, 2, 6", "2, 2, 4, 6") == kMisfit);
  CHECK(attention("2, 3, 4, 8", "2, 5, 2, 8", "2, 5, 2, 6", "2, 3, 2, 6") == kMisfit);
  CHECK(attention("2, 3, 4, 8", "2, 5, 2, 8", "2, 5, 2, 6", "2, 3, 4, 8") == kMisfit);
  CHECK(attention("2, 3, 4, 8", "2, 5, 16", "2, 5, 2, 6", "2, 3, 4, 6") ==
        "500 attention over other than four dimensions");
  CHECK(attention("2, 3, 4, 8", "2, 5, 2, 8", "2, 5, 12", "2, 3, 4, 6") ==
        "500 attention over other than four dimensions");
  CHECK(attention("2, 3, 4, 8", "2, 5, 2, 8", "2, 5, 2, 6", "2, 3, 24") ==
        "500 attention over other than four dimensions");
}

}  // namespace mir::test

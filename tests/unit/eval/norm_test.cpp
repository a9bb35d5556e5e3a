#include <cmath>

#include "one_op.hpp"

namespace mir::test {

using Values = std::vector<double>;

TEST_CASE("rms norm uses the stated epsilon and offset") {
  OneOp op(
      "linalg.CPU.RMSNormOp <name=\"n\"> [epsilon:0.5, add_unit_offset:true] "
      "(%0:tensor<[1, 2], Float32, CPU>) -> (%1:tensor<[1, 2], Float32, CPU>)");
  op.parameter("n.weight", floats({2}, {0, 1}));
  const Values got = op.values({floats({1, 2}, {1, 2})});
  CHECK(got[0] == doctest::Approx(1 / std::sqrt(3.0)));
  CHECK(got[1] == doctest::Approx(4 / std::sqrt(3.0)));
}

TEST_CASE("rms norm takes its weight as an operand, or has none") {
  const std::string x = "%0:tensor<[1, 2], Float32, CPU>", y = "%1:tensor<[1, 2], Float32, CPU>";
  OneOp functional("linalg.CPU.RMSNormOp [epsilon:0.5, elementwise_affine:false] (" + x +
                   ", %2:tensor<[2], Float32, CPU>) -> (" + y + ")");
  const Values got = functional.values({floats({1, 2}, {1, 2}), floats({2}, {1, 4})});
  CHECK(got[0] == doctest::Approx(1 / std::sqrt(3.0)));
  CHECK(got[1] == doctest::Approx(8 / std::sqrt(3.0)));
  OneOp bare("linalg.CPU.RMSNormOp [epsilon:0.5, elementwise_affine:false] (" + x + ") -> (" + y +
             ")");
  CHECK(bare.values({floats({1, 2}, {1, 2})})[1] == doctest::Approx(2 / std::sqrt(3.0)));
}

TEST_CASE("layer norm owns weight and bias as its attributes say") {
  const std::string tail = "(%0:tensor<[1, 2], Float32, CPU>) -> (%1:tensor<[1, 2], Float32, CPU>)";
  OneOp bare(
      "linalg.CPU.LayerNormOp <name=\"n\"> [normalized_shape:[2], elementwise_affine:false, "
      "bias:false, eps:0] " +
      tail);
  CHECK(bare.values({floats({1, 2}, {1, 3})}) == Values{-1, 1});
  OneOp full("linalg.CPU.LayerNormOp <name=\"n\"> [normalized_shape:[2], eps:0] " + tail);
  full.parameter("n.weight", floats({2}, {2, 3}));
  CHECK(full.error({floats({1, 2}, {1, 3})}).starts_with("813 "));
  full.parameter("n.bias", floats({2}, {10, 20}));
  CHECK(full.values({floats({1, 2}, {1, 3})}) == Values{8, 23});
}

TEST_CASE("layer norm of images works along the channels") {
  OneOp op(
      "linalg.CPU.LayerNorm2DOp <name=\"n\"> [num_channels:2, eps:0] "
      "(%0:tensor<[1, 2, 1, 2], Float32, CPU>) -> (%1:tensor<[1, 2, 1, 2], Float32, CPU>)");
  op.parameter("n.weight", floats({2}, {1, 10})).parameter("n.bias", floats({2}, {0, 0}));
  CHECK(op.values({floats({1, 2, 1, 2}, {1, 5, 3, 1})}) == Values{-1, 1, 10, -10});
}

TEST_CASE("softmax sums to one along its axis") {
  OneOp op(
      "linalg.CPU.SoftmaxOp [axis:0] (%0:tensor<[2, 1], Float32, CPU>) -> "
      "(%1:tensor<[2, 1], Float32, CPU>)");
  CHECK(op.values({floats({2, 1}, {3, 3})}) == Values{0.5, 0.5});
  OneOp last(
      "linalg.CPU.SoftmaxOp (%0:tensor<[2, 1], Float32, CPU>) -> "
      "(%1:tensor<[2, 1], Float32, CPU>)");
  CHECK(last.values({floats({2, 1}, {3, 5})}) == Values{1, 1});
}

TEST_CASE("a causal mask hides later keys and, with a window, early ones") {
  OneOp op(
      "linalg.CPU.CausalMaskOp(%0:tensor<[2, 3], Float32, CPU>) -> "
      "(%1:tensor<[2, 3], Float32, CPU>)");
  CHECK(op.values({floats({2, 3}, {1, 1, 1, 1, 1, 1})}) == Values{1, 1, -1e10, 1, 1, 1});
  OneOp window(
      "linalg.CPU.CausalMaskOp [sliding_window:true, window_size:1] "
      "(%0:tensor<[2, 3], Float32, CPU>) -> (%1:tensor<[2, 3], Float32, CPU>)");
  CHECK(window.values({floats({2, 3}, {1, 1, 1, 1, 1, 1})}) ==
        Values{-1e10, 1, -1e10, -1e10, -1e10, 1});
  const std::string one = "(%0:tensor<[1, 3], Float32, CPU>) -> (%1:tensor<[1, 3], Float32, CPU>)";
  CHECK(OneOp("linalg.CPU.CausalMaskOp [sliding_window:true, window_size:2] " + one)
            .values({floats({1, 3}, {1, 1, 1})}) == Values{1, 1, 1});
  CHECK(
      OneOp("linalg.CPU.CausalMaskOp [sliding_window:true, window_size:2, masks_one_query:true] " +
            one)
          .values({floats({1, 3}, {1, 1, 1})}) == Values{-1e10, 1, 1});
  OneOp empty(
      "linalg.CPU.CausalMaskOp [sliding_window:true] (%0:tensor<[2, 2], Float32, CPU>) -> "
      "(%1:tensor<[2, 2], Float32, CPU>)");
  CHECK(empty.error({floats({2, 2}, {1, 1, 1, 1})}).starts_with("504 "));
}

TEST_CASE("rotary embeddings turn pairs in their layout") {
  const std::string types =
      "(%0:tensor<[1, 1, 2, 2], Float32, CPU>, %1:tensor<[2, 2], Float32, "
      "CPU>, %2:tensor<[2, 2], Float32, CPU>) -> "
      "(%3:tensor<[1, 1, 2, 2], Float32, CPU>)";
  // Position 0 turns by nothing, position 1 by a quarter.
  const std::vector<Tensor> operands = {floats({1, 1, 2, 2}, {1, 2, 3, 4}),
                                        floats({2, 2}, {0, 0, 1, 1}), floats({2, 2}, {1, 1, 0, 0})};
  for (const char* name : {"RoPEOp", "MultimodalRoPEOp"}) {
    OneOp op(std::string("linalg.CPU.") + name + " [input_type:BHSD] " + types);
    CHECK(op.values(operands) == Values{1, 2, -4, 3});
  }
  OneOp partial("linalg.CPU.RoPEOp [partial_dim:0] " + types);
  CHECK(partial.values(operands) == Values{1, 2, 3, 4});
  OneOp vision(
      "linalg.CPU.VisionRoPEOp(%0:tensor<[1, 2, 1, 2], Float32, CPU>, "
      "%1:tensor<[2, 1], Float32, CPU>, %2:tensor<[2, 1], Float32, CPU>) -> "
      "(%3:tensor<[1, 2, 1, 2], Float32, CPU>)");
  CHECK(vision.values({floats({1, 2, 1, 2}, {1, 2, 3, 4}), floats({2, 1}, {0, 1}),
                       floats({2, 1}, {1, 0})}) == Values{1, 2, -4, 3});
}

TEST_CASE("reductions drop, keep or join dimensions") {
  const std::string in = "(%0:tensor<[2, 2], Float32, CPU>) -> ";
  const Tensor x = floats({2, 2}, {1, 2, 3, 6});
  OneOp sum("linalg.CPU.ReduceSumOp [dim:-1] " + in + "(%1:tensor<[2], Float32, CPU>)");
  CHECK(sum.values({x}) == Values{3, 9});
  OneOp kept("linalg.CPU.ReduceMaxOp [dim:0, keep_dim:true] " + in +
             "(%1:tensor<[1, 2], Float32, CPU>)");
  CHECK(kept.values({x}) == Values{3, 6});
  CHECK(kept.shape() == Shape{1, 2});
  OneOp least("linalg.CPU.ReduceMinOp [dim:2147483647] " + in + "(%1:tensor<[1], Float32, CPU>)");
  CHECK(least.values({x}) == Values{1});
  OneOp mean("linalg.CPU.MeanOp [dim:all] " + in + "(%1:tensor<[1], Float32, CPU>)");
  CHECK(mean.values({x}) == Values{3});
}

TEST_CASE("sorts give values and places") {
  const Tensor x = floats({2, 3}, {5, 7, 6, 1, 1, 0});
  OneOp order(
      "linalg.CPU.ArgsortOp [descending:true] (%0:tensor<[2, 3], Float32, CPU>) -> "
      "(%1:tensor<[2, 3], Int32, CPU>)");
  CHECK(order.values({x}) == Values{1, 2, 0, 0, 1, 2});
  OneOp best(
      "linalg.CPU.TopKOp [k:1, dim:0, largest:false] (%0:tensor<[2, 3], Float32, CPU>) -> "
      "(%1:tensor<[1, 3], Float32, CPU>, %2:tensor<[1, 3], Int32, CPU>)");
  const auto results = best.run({x});
  REQUIRE(results);
  CHECK(values_of(results->at(0)) == Values{1, 1, 0});
  CHECK(values_of(results->at(1)) == Values{1, 1, 1});
}

}  // namespace mir::test

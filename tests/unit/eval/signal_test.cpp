#include "one_op.hpp"

namespace mir::test {

using Values = std::vector<double>;

TEST_CASE("transforms take a signal alone or in rows and give pairs or complex numbers") {
  const Tensor window = floats({1, 4}, {1, 1, 1, 1});
  const std::string attributes = "n_fft:4, hop_length:0, win_length:0, center:false";
  OneOp alone("linalg.CPU.STFTOp [" + attributes +
              "] (%0:tensor<[5], Float32, CPU>, %1:tensor<[1, 4], Float32, CPU>) -> "
              "(%2:tensor<[1, 3, 2, 2], Float32, CPU>)");
  const Tensor x = floats({5}, {1, 2, 4, 8, 0});
  const Values pairs = alone.values({x, window});
  CHECK(pairs == Values{15, 0, 14, 0, -3, 6, -6, -4, -5, 0, 6, 0});
  OneOp complex("linalg.CPU.STFTOp [" + attributes +
                ", return_complex:true] (%0:tensor<[1, 5], Float32, CPU>, "
                "%1:tensor<[4], Float32, CPU>) -> (%2:tensor<[1, 3, 2], ComplexFP32, CPU>)");
  const auto spec = complex.run({floats({1, 5}, values_of(x)), floats({4}, {1, 1, 1, 1})});
  REQUIRE(spec);
  CHECK(spec->front().shape() == Shape{1, 3, 2});
  const auto parts = spec->front().as<float>();
  CHECK(Values(parts.begin(), parts.end()) == pairs);
  OneOp back(
      "linalg.CPU.ISTFTOp [n_fft:4, hop_length:1, win_length:4, center:false] "
      "(%0:tensor<[1, 3, 2], ComplexFP32, CPU>, %1:tensor<[4], Float32, CPU>) -> "
      "(%2:tensor<[1, 5], Float32, CPU>)");
  CHECK(back.values({spec->front(), floats({4}, {1, 1, 1, 1})}) == values_of(x));
}

TEST_CASE("margins are mirrored or zero, and cut again") {
  const Tensor window = floats({4}, {0, 1, 0, 0});
  const auto first_bin = [&](const std::string& pad_mode) {
    OneOp op("linalg.CPU.STFTOp [n_fft:4, hop_length:1, win_length:4, center:true, pad_mode:" +
             pad_mode +
             "] (%0:tensor<[3], Float32, CPU>, %1:tensor<[4], Float32, CPU>) -> "
             "(%2:tensor<[1, 3, 4, 2], Float32, CPU>)");
    const Values got = op.values({floats({3}, {1, 2, 3}), window});
    return Values{got[0], got[2], got[4], got[6]};
  };
  CHECK(first_bin("reflect") == Values{2, 1, 2, 3});
  CHECK(first_bin("constant") == Values{0, 1, 2, 3});
  const Tensor spec =
      floats({1, 3, 3, 2}, {4, 0, 8, 0, 12, 0, 4, 0, 8, 0, 12, 0, 4, 0, 8, 0, 12, 0});
  const auto inverse = [&](const std::string& attributes, const std::string& length) {
    OneOp op("linalg.CPU.ISTFTOp [n_fft:4, hop_length:2, win_length:4, " + attributes +
             "] (%0:tensor<[1, 3, 3, 2], Float32, CPU>, %1:tensor<[4], Float32, CPU>) -> "
             "(%2:tensor<[1, " +
             length + "], Float32, CPU>)");
    return op.values({spec, floats({4}, {1, 1, 1, 1})});
  };
  CHECK(inverse("center:false", "8") == Values{4, 0, 4, 0, 6, 0, 0, 0});
  CHECK(inverse("center:true", "4") == Values{4, 0, 6, 0});
  CHECK(inverse("center:false, pad_mode:same", "6") == Values{0, 4, 0, 6, 0, 0});
  CHECK(inverse("center:true, normalized:true", "4") == Values{1, 0, 1.5, 0});
}

TEST_CASE("the absolute value of complex numbers is real") {
  OneOp op("linalg.CPU.AbsOp(%0:tensor<[1], ComplexFP32, CPU>) -> (%1:tensor<[1], Float32, CPU>)");
  auto x = Tensor::allocate(DType::kComplexFP32, {1});
  REQUIRE(x);
  x->as_mutable<float>()[0] = -3;
  x->as_mutable<float>()[1] = 4;
  CHECK(op.values({*x}) == Values{5});
}

}  // namespace mir::test

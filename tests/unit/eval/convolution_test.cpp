#include "one_op.hpp"

namespace mir::test {

using Values = std::vector<double>;

TEST_CASE("a convolution takes its weight and bias by its path") {
  const std::string types =
      " (%0:tensor<[1, 2, 3], Float32, CPU>) -> (%1:tensor<[1, 2, 3], Float32, CPU>)";
  const Tensor x = floats({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  OneOp op(
      "linalg.CPU.Conv1DOp <name=\"c\"> [out_channels:2, kernel_size:3, padding:1, groups:2, "
      "bias:true]" +
      types);
  CHECK(op.error({x}).starts_with("813 "));
  // A flat weight of the right size will do.
  op.parameter("c.weight", floats({6}, {1, 0, 0, 0, 0, 1}));
  op.parameter("c.bias", floats({2}, {10, 20}));
  CHECK(op.values({x}) == Values{10, 11, 12, 25, 26, 20});
  op.parameter("c.weight", floats({5}, {1, 0, 0, 0, 0}));
  CHECK(op.error({x}).starts_with("416 "));
  OneOp bare("linalg.CPU.Conv1DOp <name=\"c\"> [out_channels:2, bias:false]" + types);
  bare.parameter("c.weight", floats({4}, {1, 0, 0, 1}));
  CHECK(bare.error({x}) == "409 'Conv1DOp': attribute 'kernel_size' is missing");
  bare.parameter("c.weight", floats({2, 2, 1}, {0, 1, 1, 0}));
  CHECK(bare.values({x}) == Values{4, 5, 6, 1, 2, 3});
}

TEST_CASE("convolutions of two and three dimensions step as they say") {
  OneOp two(
      "linalg.CPU.Conv2DOp <name=\"c\"> [out_channels:1, kernel_size:[2, 1], stride:[1, 2], "
      "padding:[0, 1], dilation:[2, 1], bias:false] (%0:tensor<[1, 1, 3, 2], Float32, CPU>) -> "
      "(%1:tensor<[1, 1, 1, 2], Float32, CPU>)");
  two.parameter("c.weight", floats({1, 1, 2, 1}, {1, 10}));
  CHECK(two.values({floats({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6})}) == Values{0, 62});
  OneOp three(
      "linalg.CPU.Conv3DOp <name=\"c\"> [out_channels:1, kernel_size:[1, 1, 2], stride:[1, 1, 2], "
      "bias:false] (%0:tensor<[1, 1, 1, 2, 2], Float32, CPU>) -> "
      "(%1:tensor<[1, 1, 1, 2, 1], Float32, CPU>)");
  three.parameter("c.weight", floats({2}, {1, 10}));
  CHECK(three.values({floats({1, 1, 1, 2, 2}, {1, 2, 3, 4})}) == Values{21, 43});
}

TEST_CASE("a convolution of form QNN_LPBQ has its channels last") {
  OneOp op(
      "linalg.CPU.Conv2DOp <name=\"c\"> [in_channels:3, out_channels:2, kernel_size:[1, 1], "
      "bias:false, impl_type:\"QNN_LPBQ_w4a16o16_G32\"] (%0:tensor<[1, 1, 2, 3], Float32, CPU>) -> "
      "(%1:tensor<[1, 1, 2, 2], Float32, CPU>)");
  op.parameter("c.weight", floats({1, 1, 3, 2}, {1, 10, 2, 20, 3, 30}));
  CHECK(op.values({floats({1, 1, 2, 3}, {1, 1, 1, 0, 1, 2})}) == std::vector<double>{6, 60, 8, 80});
  OneOp wide(
      "linalg.CPU.Conv2DOp <name=\"c\"> [in_channels:1, out_channels:1, kernel_size:[1, 2], "
      "bias:false, impl_type:\"QNN_LPBQ_w4a16o16_G32\"] (%0:tensor<[1, 1, 3, 1], Float32, CPU>) -> "
      "(%1:tensor<[1, 1, 2, 1], Float32, CPU>)");
  wide.parameter("c.weight", floats({1, 2, 1, 1}, {1, 100}));
  CHECK(wide.values({floats({1, 1, 3, 1}, {1, 2, 3})}) == std::vector<double>{201, 302});
}

TEST_CASE("pads name the last dimension first") {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  OneOp constant(
      "linalg.CPU.PadOp [pad:[0, 1, 1, 0], value:-1.5] (%0:tensor<[2, 2], Float32, CPU>) -> "
      "(%1:tensor<[3, 3], Float32, CPU>)");
  CHECK(constant.values({x}) == Values{-1.5, -1.5, -1.5, 1, 2, -1.5, 3, 4, -1.5});
  const auto last = [&](const std::string& mode) {
    OneOp op("linalg.CPU.PadOp [pad:[2, 0], mode:" + mode +
             "] (%0:tensor<[2, 2], Float32, CPU>) -> (%1:tensor<[2, 4], Float32, CPU>)");
    const Values got = op.values({x});
    return Values(got.begin(), got.begin() + 2);
  };
  CHECK(last("constant") == Values{0, 0});
  CHECK(last("reflect") == Values{1, 2});
  CHECK(last("replicate") == Values{1, 1});
  CHECK(last("circular") == Values{1, 2});
  OneOp truth(
      "linalg.CPU.PadOp [pad:[1, 0]] (%0:tensor<[1], Bool, CPU>) -> (%1:tensor<[2], Bool, CPU>)");
  CHECK(truth.values({tensor(DType::kBool, {1}, {1})}) == Values{0, 1});
}

TEST_CASE("interpolation goes by its mode, to a size or by a factor") {
  const auto resample = [](const std::string& attributes, const Tensor& x, const std::string& to) {
    OneOp op("linalg.CPU.InterpolateOp [" + attributes +
             "] (%0:tensor<[?, ?, ?, ?], Float32, CPU>)"
             " -> (%1:tensor<[1, 1, " +
             to + "], Float32, CPU>)");
    return op.values({x});
  };
  const Tensor x = floats({1, 1, 1, 2}, {0, 4});
  CHECK(resample("size:[1, 4]", x, "1, 4") == Values{0, 0, 4, 4});
  CHECK(resample("scale_factor:[2.5], mode:bilinear", x, "1, 5") == Values{0, 0.4f, 2, 3.6f, 4});
  CHECK(resample("size:[1, 3], mode:bilinear, align_corners:true", x, "1, 3") == Values{0, 2, 4});
  CHECK(resample("size:[1, 3], mode:bicubic, align_corners:true", x, "1, 3") == Values{0, 2, 4});
  const Tensor spike = floats({1, 1, 1, 6}, {0, 0, 6, 0, 0, 0});
  const Values plain = resample("size:[1, 2], mode:bilinear", spike, "1, 2");
  CHECK(plain == Values{0, 0});
  CHECK(resample("size:[1, 2], mode:bilinear, antialias:true", spike, "1, 2")[0] > 1);
  const Tensor early = floats({1, 1, 1, 6}, {0, 6, 0, 0, 0, 0});
  CHECK(resample("size:[1, 2], antialias:true", early, "1, 2") == Values{6, 0});
}

}  // namespace mir::test

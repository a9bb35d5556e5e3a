#include <algorithm>
#include <cmath>

#include "one_op.hpp"

namespace mir::test {

using Values = std::vector<double>;

TEST_CASE("a result that is declared as no tensor, or of another rank, has the type of the rule") {
  const Tensor x = floats({2}, {1, -2});
  for (const std::string type :
       {"!a.handle", "tensor<[?, ?], Float32, CPU>", "tensor<[?], Float32, CPU>"}) {
    CAPTURE(type);
    OneOp op("linalg.CPU.NegOp (%0:tensor<[2], Float32, CPU>) -> (%1:" + type + ")");
    CHECK(op.values({x}) == std::vector<double>{-1, 2});
    CHECK(op.shape() == Shape{2});
  }
}

TEST_CASE("arithmetic broadcasts to the extents of both operands") {
  OneOp add(
      "linalg.CPU.AddOp(%0:tensor<[2, 3], Float32, CPU>, %1:tensor<[3], Float32, CPU>) -> "
      "(%2:tensor<[2, 3], Float32, CPU>)");
  CHECK(add.values({floats({2, 3}, {1, 2, 3, 4, 5, 6}), floats({3}, {10, 20, 30})}) ==
        Values{11, 22, 33, 14, 25, 36});
  OneOp sub(
      "linalg.CPU.SubOp(%0:tensor<[2, 1], Float32, CPU>, %1:tensor<[3], Float32, CPU>) -> "
      "(%2:tensor<[2, 3], Float32, CPU>)");
  CHECK(sub.values({floats({2, 1}, {1, 2}), floats({3}, {1, 2, 3})}) ==
        Values{0, -1, -2, 1, 0, -1});
  CHECK(sub.shape() == Shape{2, 3});
  OneOp div(
      "linalg.CPU.DivOp(%0:tensor<[2], Int64, CPU>, %1:tensor<[1], Int64, CPU>) -> "
      "(%2:tensor<[2], Int64, CPU>)");
  CHECK(div.values({ints({2}, {7, -7}), ints({1}, {2})}) == Values{3, -3});
}

TEST_CASE("an evaluation looks at the tensors and not at the declared types") {
  OneOp mul(
      "linalg.CPU.MulOp(%0:tensor<[?, 2], Float32, CPU>, %1:tensor<[?, 2], Float32, CPU>) -> "
      "(%2:tensor<[?, 2], Float32, CPU>)");
  CHECK(mul.values({floats({1, 2}, {2, 3}), floats({1, 2}, {5, 7})}) == Values{10, 21});
  CHECK(mul.error({floats({1, 2}, {2, 3}), floats({1, 3}, {5, 7, 1})}).starts_with("500 "));
  CHECK(mul.error({floats({1, 2}, {2, 3}), ints({1, 2}, {5, 7})}).starts_with("502 "));
  CHECK(mul.error({floats({1, 2}, {2, 3})}).starts_with("401 "));
  CHECK(mul.error({floats({1, 2}, {2, 3}), Tensor()}).starts_with("311 "));
}

TEST_CASE("functions of one operand keep type and extents") {
  const std::pair<const char*, Values> cases[] = {
      {"AbsOp", {1, 2}},
      {"NegOp", {1, -2}},
      {"ReLUOp", {0, 2}},
  };
  for (const auto& each : cases) {
    CAPTURE(each.first);
    OneOp op(std::string("linalg.CPU.") + each.first +
             "(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)");
    CHECK(op.values({floats({2}, {-1, 2})}) == each.second);
  }
  for (const char* name :
       {"ExpOp", "LogOp", "SinOp", "CosOp", "SigmoidOp", "SiLUOp", "GELUOp", "QuickGELUOp"}) {
    CAPTURE(name);
    OneOp op(std::string("linalg.CPU.") + name +
             "(%0:tensor<[1], Float64, CPU>) -> (%1:tensor<[1], Float64, CPU>)");
    const double x = 0.75;
    const Values got = op.values({tensor(DType::kFloat64, {1}, {x})});
    const double sigmoid = 1 / (1 + std::exp(-x));
    const std::string_view which = name;
    const double c = 0.79788456 * (x + 0.044715 * x * x * x);
    const double expected = which == "ExpOp"       ? std::exp(x)
                            : which == "LogOp"     ? std::log(x)
                            : which == "SinOp"     ? std::sin(x)
                            : which == "CosOp"     ? std::cos(x)
                            : which == "SigmoidOp" ? sigmoid
                            : which == "SiLUOp"    ? x * sigmoid
                            : which == "GELUOp"    ? 0.5 * x * (1 + std::tanh(c))
                                                   : x / (1 + std::exp(-1.702 * x));
    CHECK(got[0] == doctest::Approx(expected).epsilon(1e-7));
  }
}

TEST_CASE("clip takes its bounds from the attributes and needs both") {
  OneOp clip(
      "linalg.CPU.ClipOp [min_val:-1.5, max_val:2] (%0:tensor<[3], Float32, CPU>) -> "
      "(%1:tensor<[3], Float32, CPU>)");
  CHECK(clip.values({floats({3}, {-3, 0.5, 9})}) == Values{-1.5, 0.5, 2});
  OneOp half(
      "linalg.CPU.ClipOp [min_val:-1.5] (%0:tensor<[3], Float32, CPU>) -> "
      "(%1:tensor<[3], Float32, CPU>)");
  CHECK(half.error({floats({3}, {-3, 0.5, 9})}) == "409 'ClipOp': attribute 'max_val' is missing");
  OneOp wrong(
      "linalg.CPU.ClipOp [min_val:low, max_val:2] (%0:tensor<[1], Float32, CPU>) -> "
      "(%1:tensor<[1], Float32, CPU>)");
  CHECK(wrong.error({floats({1}, {1})}).starts_with("312 "));
}

TEST_CASE("equal gives truth values and where selects by them") {
  OneOp equal(
      "linalg.CPU.EqualOp(%0:tensor<[3], Float32, CPU>, %1:tensor<[1], Float32, CPU>) -> "
      "(%2:tensor<[3], Bool, CPU>)");
  CHECK(equal.values({floats({3}, {1, 2, 1}), floats({1}, {1})}) == Values{1, 0, 1});
  OneOp where(
      "linalg.CPU.WhereOp(%0:tensor<[2, 1], Bool, CPU>, %1:tensor<[2, 2], Float32, CPU>, "
      "%2:tensor<[1], Float32, CPU>) -> (%3:tensor<[2, 2], Float32, CPU>)");
  CHECK(where.values({tensor(DType::kBool, {2, 1}, {1, 0}), floats({2, 2}, {1, 2, 3, 4}),
                      floats({1}, {9})}) == Values{1, 2, 9, 9});
}

TEST_CASE("a masked scatter takes the source where the mask is not zero") {
  OneOp op(
      "linalg.CPU.MaskedScatterOp(%0:tensor<[2, 2], Float32, CPU>, %1:tensor<[2, 1], Int8, "
      "CPU>, %2:tensor<[2], Float32, CPU>) -> (%3:tensor<[2, 2], Float32, CPU>)");
  const Tensor target = floats({2, 2}, {1, 2, 3, 4});
  CHECK(op.values({target, tensor(DType::kInt8, {2, 1}, {0, -1}), floats({2}, {8, 9})}) ==
        Values{1, 2, 8, 9});
  CHECK(values_of(target) == Values{1, 2, 3, 4});
}

TEST_CASE("casts convert element by element") {
  OneOp op(
      "linalg.CPU.CastTypeOp [dtype:Int32] (%0:tensor<[3], Float32, CPU>) -> "
      "(%1:tensor<[3], Int32, CPU>)");
  CHECK(op.values({floats({3}, {1.9, -1.9, 0})}) == Values{1, -1, 0});
}

TEST_CASE("an op that the table does not have is refused") {
  OneOp custom(
      "linalg.CPU.CustomizedOp [name=\"m.op\"](%0:tensor<[2], Float32, CPU>) -> "
      "(%1:tensor<[2], Float32, CPU>)");
  CHECK_FALSE(is_executable(custom.op()));
  CHECK(custom.error({floats({2}, {1, 2})}) == "810 'CustomizedOp': no evaluator computes it");
}

}  // namespace mir::test

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "mir/codes/tensors.hpp"
#include "mir/weights.hpp"
#include "temporary.hpp"

using namespace mir;
using namespace mir::test;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor floats(Shape shape, std::initializer_list<float> values) {
  return tensor_of<float>(DType::kFloat32, std::move(shape), values);
}

}  // namespace

TEST_CASE("equal tensors pass with no error, NaN and infinities included") {
  const auto tensor = floats({4}, {1, kNan, kInf, -0.0f});
  const auto result = compare_tensors(tensor, floats({4}, {1, -kNan, kInf, 0}), {});
  REQUIRE(result);
  CHECK(result->passed());
  CHECK(result->worst.empty());
  CHECK(result->max_abs_error == 0);
  CHECK(result->cosine.value == 1);
}

TEST_CASE("errors are measured against the expected tensor") {
  const auto result =
      compare_tensors(floats({2, 3}, {1, 2, 4, 8, 0, 16}),
                      floats({2, 3}, {1, 2.5f, 4, 9, 0.5f, 16}), {.abs = 0.25, .rel = 0.125});
  REQUIRE(result);
  CHECK(result->elements == 6);
  CHECK(result->max_abs_error == 1);
  CHECK(result->max_abs_index == 3);
  CHECK(result->max_rel_error == 0.25);
  CHECK(result->max_rel_index == 1);
  CHECK(result->over_tolerance == 1);  // 0.5 > 0.25 at the 0; 0.5 <= 0.5 and 1 <= 1.25 elsewhere
  CHECK_FALSE(result->passed());
  REQUIRE(result->worst.size() == 3);
  CHECK(result->worst[0].index == 4);
  CHECK(result->worst[1].index == 1);
  CHECK(result->worst[2].index == 3);
}

TEST_CASE("a NaN or an infinity on one side is over any tolerance") {
  const auto result =
      compare_tensors(floats({5}, {kNan, 1, kInf, 1, kInf}), floats({5}, {1, kNan, 1, kInf, -kInf}),
                      {.abs = 1e9, .rel = 1e9});
  REQUIRE(result);
  CHECK(result->over_tolerance == 5);
  CHECK(result->nan_mismatches == 2);
  CHECK(std::isinf(result->max_abs_error));
}

TEST_CASE("the worst five are kept in order, ties by position") {
  const auto result = compare_tensors(floats({8}, {0, 0, 0, 0, 0, 0, 0, 0}),
                                      floats({8}, {1, 3, 2, 3, 0, 5, 1, 1}), {});
  REQUIRE(result);
  std::vector<std::int64_t> indices;
  for (const auto& element : result->worst) indices.push_back(element.index);
  CHECK(indices == std::vector<std::int64_t>{5, 1, 3, 2, 0});
}

TEST_CASE("64-bit integers are subtracted exactly") {
  const auto low = std::numeric_limits<std::int64_t>::min();
  const auto high = std::numeric_limits<std::int64_t>::max();
  const auto result =
      compare_tensors(tensor_of<std::int64_t>(DType::kInt64, {2}, {high, low}),
                      tensor_of<std::int64_t>(DType::kInt64, {2}, {high - 1, high}), {});
  REQUIRE(result);
  CHECK(result->over_tolerance == 2);
  CHECK(result->worst[1].abs_error == 1);
  CHECK(render(*result).find("[0]: expected 9223372036854775807, found 9223372036854775806") !=
        std::string::npos);
  CHECK(result->max_abs_error == 0x1p64);
}

TEST_CASE("the cosine ignores elements that are not finite") {
  const auto cosine = [](std::initializer_list<float> a, std::initializer_list<float> b) {
    const auto count = static_cast<std::int64_t>(a.size());
    return render(compare_tensors(floats({count}, a), floats({count}, b), {})->cosine);
  };
  CHECK(cosine({1, 0, kNan}, {0, 1, 1}) == "0");
  CHECK(cosine({3, 4}, {6, 8}) == "1");
  CHECK(cosine({1, 2}, {-2, -4}) == "-1");
  CHECK(cosine({0, 0}, {0, 0}) == "1");
  CHECK(cosine({}, {}) == "1");
  CHECK(cosine({2}, {2}) == "1");
  CHECK(cosine({1}, {-2}) == "not defined (fewer than 2 finite elements)");
  CHECK(cosine({1, kInf}, {2, kInf}) == "not defined (fewer than 2 finite elements)");
  CHECK(cosine({0, 0}, {0, 1}) == "not defined (zero norm)");
}

TEST_CASE("squares beyond the range of Float64 do not disturb figures") {
  const auto doubles = [](std::initializer_list<double> values) {
    return tensor_of<double>(DType::kFloat64, {2}, values);
  };
  for (const double scale : {1e200, 1e-200, 5e-324}) {
    CAPTURE(scale);
    const auto same = compare_tensors(doubles({scale, 2 * scale}), doubles({2, 4}), {});
    CHECK(same->cosine.value == doctest::Approx(1));
    CHECK(same->correlation.value == doctest::Approx(1));
    const auto other = compare_tensors(doubles({scale, 0}), doubles({0, scale}), {});
    CHECK(other->cosine.value == 0);
    CHECK(other->cosine.is_defined());
  }
}

TEST_CASE("elements that are not finite on one side fail every requirement") {
  Tolerance cosine, correlation, top, nothing;
  nothing.judges_elements = cosine.judges_elements = false;
  correlation.judges_elements = top.judges_elements = false;
  cosine.min_cosine = -1;
  correlation.min_correlation = -1;
  top.min_top_agreement = 0;
  Tolerance whole = top;
  whole.top = 9;
  for (const float strange : {kNan, kInf, -kInf}) {
    const auto usual = floats({4}, {1, 2, 3, 4}), broken = floats({4}, {1, strange, 3, 4});
    for (const Tolerance& tolerance : {cosine, correlation, top, whole, nothing}) {
      CAPTURE(render(tolerance));
      const auto found = compare_tensors(usual, broken, tolerance);
      CHECK_FALSE(found->passed());
      CHECK(found->over_tolerance == 1);
      CHECK_FALSE(compare_tensors(broken, usual, tolerance)->passed());
      CHECK(compare_tensors(broken, broken, tolerance)->passed());
    }
  }
  const auto signs = compare_tensors(floats({2}, {kInf, 1}), floats({2}, {-kInf, 1}), nothing);
  CHECK_FALSE(signs->passed());
  CHECK(signs->infinity_mismatches == 1);
  CHECK(render(*signs).find("0 mismatches; infinities: 1 mismatches\n") != std::string::npos);
}

TEST_CASE("figures that are not defined fail unless all values are equal") {
  Tolerance cosine, correlation, top;
  cosine.judges_elements = correlation.judges_elements = top.judges_elements = false;
  cosine.min_cosine = -1;
  correlation.min_correlation = -1;
  top.min_top_agreement = 0;
  top.top = 2;
  const auto passes = [](const Tolerance& tolerance, std::initializer_list<float> a,
                         std::initializer_list<float> b) {
    const auto count = static_cast<std::int64_t>(a.size());
    return compare_tensors(floats({count}, a), floats({count}, b), tolerance)->passed();
  };
  for (const Tolerance& tolerance : {cosine, correlation, top}) {
    CAPTURE(render(tolerance));
    CHECK_FALSE(passes(tolerance, {1}, {2}));
    CHECK(passes(tolerance, {1}, {1}));
    CHECK(passes(tolerance, {}, {}));
  }
  CHECK_FALSE(passes(cosine, {0, 0}, {0, 1}));
  CHECK_FALSE(passes(correlation, {2, 2}, {3, 3}));
  CHECK_FALSE(passes(top, {1, 2}, {2, 1}));
  CHECK(passes(top, {1, 2, 3}, {2, 1, 3}));
  cosine.min_cosine = 1;  // rounding does not fail equal values
  CHECK(passes(cosine, {0.1f, 0.7f, 0.3f}, {0.1f, 0.7f, 0.3f}));
}

TEST_CASE("other float types and complex parts are compared as reals") {
  const auto half = tensor_of<std::uint16_t>(DType::kFloat16, {1}, {0x3C00});
  CHECK(compare_tensors(floats({1}, {1}), half, {})->passed());
  const auto a = tensor_of<float>(DType::kComplexFP32, {2}, {1, 2, 3, 4});
  const auto b = tensor_of<float>(DType::kComplexFP32, {2}, {1, 2, 3, 5});
  const auto result = compare_tensors(a, b, {});
  REQUIRE(result);
  CHECK(result->shape == Shape{2, 2});
  CHECK(result->max_abs_index == 3);
}

TEST_CASE("shapes must agree and elements must be numbers") {
  const auto shapes = compare_tensors(floats({2}, {1, 2}), floats({1, 2}, {1, 2}), {});
  REQUIRE_FALSE(shapes);
  CHECK(shapes.error().code == diag::kTensorTypeConflict);
  const auto blocks = *Tensor::allocate(DType::kGgufQ4_0, {32});
  const auto types = compare_tensors(blocks, blocks, {});
  REQUIRE_FALSE(types);
  CHECK(types.error().code == diag::kTensorDtypeUnsupported);
}

TEST_CASE("a comparison is rendered with positions in the tensor") {
  const auto differs =
      compare_tensors(floats({2, 2}, {1, 2, 4, 8}), floats({2, 2}, {1, 2, 5, 8}), {.abs = 0.5});
  CHECK(render(*differs) ==
        "differs: 1 of 4 elements over tolerance (abs 0.5, rel 0)\n"
        "max abs error 1 at [1, 0], max rel error 0.25 at [1, 0], max ulp error 2097152 at [1, 0]\n"
        "values that differ: 1; NaN: 0 expected, 0 found, 0 mismatches\n"
        "cosine 0.99567274, correlation 0.987457576, top 1 agreement 1\n"
        "  [1, 0]: expected 4, found 5, error 1");
  const auto empty = compare_tensors(floats({0, 2}, {}), floats({0, 2}, {}), {});
  CHECK(render(*empty) ==
        "equal within tolerance: 0 of 0 elements over tolerance (abs 0, rel 0)\n"
        "max abs error 0, max rel error 0, max ulp error 0\n"
        "values that differ: 0; NaN: 0 expected, 0 found, 0 mismatches\n"
        "cosine 1, correlation 1, top 1 agreement 1");
}

TEST_CASE("units in the last place are those of the actual type at the expected number") {
  const auto units = [](const Tensor& expected, const Tensor& actual) {
    return compare_tensors(expected, actual, {})->max_ulp_error;
  };
  const auto next = [](float x) { return std::nextafter(x, kInf); };
  CHECK(units(floats({1}, {1}), floats({1}, {next(1)})) == 1);
  CHECK(units(floats({1}, {next(1)}), floats({1}, {1})) == 1);
  CHECK(units(floats({1}, {1e30f}), floats({1}, {next(next(1e30f))})) == 2);
  CHECK(units(floats({1}, {0}), floats({1}, {0x1p-149f})) == 1);
  CHECK(units(floats({1}, {-0x1p-126f}), floats({1}, {0})) == 0x1p23);
  const auto half = [](std::uint16_t bits) {
    return tensor_of<std::uint16_t>(DType::kFloat16, {1}, {bits});
  };
  CHECK(units(half(0x3C00), half(0x3C01)) == 1);
  CHECK(units(half(0x0000), half(0x0003)) == 3);
  CHECK(units(tensor_of<double>(DType::kFloat64, {1}, {1 + 0x1p-24}), floats({1}, {1})) == 0.5);
  CHECK(units(tensor_of<std::int8_t>(DType::kInt8, {1}, {-3}),
              tensor_of<std::int8_t>(DType::kInt8, {1}, {4})) == 7);
  const auto passes = [&](double ulp) {
    Tolerance tolerance;
    tolerance.ulp = ulp;
    return compare_tensors(floats({2}, {1, kInf}), floats({2}, {next(next(1)), kInf}), tolerance)
        ->passed();
  };
  CHECK(passes(2));
  CHECK_FALSE(passes(1.5));
}

TEST_CASE("exact means bits, or numbers and signs between types") {
  Tolerance exact;
  exact.exact = true;
  exact.abs = 10;  // does not count
  const auto passes = [&](const Tensor& a, const Tensor& b) {
    return compare_tensors(a, b, exact)->passed();
  };
  CHECK(passes(floats({3}, {1, kNan, -0.0f}), floats({3}, {1, kNan, -0.0f})));
  CHECK_FALSE(passes(floats({1}, {0}), floats({1}, {-0.0f})));
  CHECK_FALSE(passes(floats({1}, {kNan}), floats({1}, {-kNan})));
  CHECK_FALSE(passes(floats({1}, {1}), floats({1}, {std::nextafter(1.0f, 2.0f)})));
  CHECK(passes(tensor_of<double>(DType::kFloat64, {2}, {0.5, std::nan("")}),
               floats({2}, {0.5f, -kNan})));
  CHECK_FALSE(passes(tensor_of<double>(DType::kFloat64, {1}, {-0.0}), floats({1}, {0})));
}

TEST_CASE("correlation is Pearson's and knows constants") {
  const auto correlation = [](std::initializer_list<float> a, std::initializer_list<float> b) {
    const auto count = static_cast<std::int64_t>(a.size());
    return compare_tensors(floats({count}, a), floats({count}, b), {})->correlation;
  };
  CHECK(correlation({1, 2, 3}, {12, 14, 16}).value == doctest::Approx(1));
  CHECK(correlation({1, 2, 3}, {1, 0, -1}).value == doctest::Approx(-1));
  CHECK(correlation({1, 2, 3, kNan}, {1, 3, 2, 0}).value == doctest::Approx(0.5));
  CHECK(render(correlation({2, 2}, {3, 3})) == "not defined (constant)");
  CHECK(render(correlation({2, 2}, {3, 4})) == "not defined (constant)");
}

TEST_CASE("the largest of each row agree as sets") {
  Tolerance tolerance;
  tolerance.top = 2;
  tolerance.judges_elements = false;
  const auto a = floats({2, 4}, {9, 8, 1, 0, 5, 5, 5, 4});
  const auto b = floats({2, 4}, {7, 8, 2, 1, 0, 6, 5, 9});
  const auto result = compare_tensors(a, b, tolerance);
  CHECK(result->top_count == 2);
  CHECK(result->top_agreement.value == 0.75);  // {0, 1} twice; {0, 1} and {1, 3}
  CHECK(result->over_tolerance == 0);
  CHECK(result->passed());
  tolerance.min_top_agreement = 0.75;
  CHECK(compare_tensors(a, b, tolerance)->passed());
  tolerance.min_top_agreement = 0.8;
  CHECK_FALSE(compare_tensors(a, b, tolerance)->passed());
  const auto constant = floats({2, 4}, {7, 7, 7, 7, 0, 6, 5, 9});
  CHECK(compare_tensors(a, constant, tolerance)->top_agreement.value == 0.25);
  CHECK(compare_tensors(constant, a, tolerance)->top_agreement.value == 0.25);
  CHECK(render(compare_tensors(floats({}, {1}), floats({}, {2}), tolerance)->top_agreement) ==
        "not defined (it ranks whole rows)");
}

TEST_CASE("every figure that is stated must hold") {
  const auto a = floats({3}, {1, 2, 3}), b = floats({3}, {1, 2, 4});
  Tolerance tolerance;
  tolerance.judges_elements = false;
  CHECK(compare_tensors(a, b, tolerance)->passed());
  tolerance.min_correlation = 0.9;
  tolerance.min_cosine = 0.9;
  CHECK(compare_tensors(a, b, tolerance)->passed());
  tolerance.min_cosine = 0.9999;
  CHECK_FALSE(compare_tensors(a, b, tolerance)->passed());
  tolerance.min_cosine = 0.9;
  tolerance.min_correlation = 0.9999;
  CHECK_FALSE(compare_tensors(a, b, tolerance)->passed());
  CHECK(render(tolerance) == "correlation >= 0.9999, cosine >= 0.9");
}

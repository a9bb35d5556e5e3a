#include "kernels/ref/unary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref::unary_test {
namespace {

using namespace test;

using Values = std::vector<double>;
using Unary = Result<void> (*)(const View&, const MutableView&);
using Exact = long double;

Values apply(Unary kernel, DType dtype, const Values& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  const Array x(dtype, {n}, values);
  Array out(dtype, {n});
  REQUIRE(kernel(x, out));
  CHECK(out.guards_intact());
  return out.values();
}

Exact exact_sigmoid(Exact x) {
  return 1 / (1 + std::exp(-x));
}

Exact exact_gelu(Exact x) {
  const Exact u = static_cast<Exact>(0.79788456f) * (x + static_cast<Exact>(0.044715f) * x * x * x);
  return x * exact_sigmoid(2 * u);
}

struct Case {
  const char* name;
  Unary kernel;
  Exact (*exact)(Exact);
  bool gated;
};

constexpr Case kCases[] = {
    {"exp", exp, [](Exact x) { return std::exp(x); }, false},
    {"sin", sin, [](Exact x) { return std::sin(x); }, false},
    {"cos", cos, [](Exact x) { return std::cos(x); }, false},
    {"tanh", tanh, [](Exact x) { return std::tanh(x); }, false},
    {"erf", erf, [](Exact x) { return std::erf(x); }, false},
    {"sigmoid", sigmoid, exact_sigmoid, false},
    {"silu", silu, [](Exact x) { return x * exact_sigmoid(x); }, true},
    {"gelu", gelu, exact_gelu, true},
    {"quick_gelu", quick_gelu,
     [](Exact x) { return x * exact_sigmoid(static_cast<Exact>(1.702f) * x); }, true},
};

TEST_SUITE_BEGIN("kernels");

TEST_CASE("smooth functions are within their bounds in every type") {
  for (const Case& c : kCases) {
    for (const DType dtype : kFloatingTypes) {
      const Array x = random_array(dtype, {7, 701}, 3, 9.0);
      Array out(dtype, {7, 701});
      CAPTURE(c.name);
      CAPTURE(name_of(dtype));
      REQUIRE(c.kernel(x, out));
      double worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        double want = static_cast<double>(c.exact(x[i]));
        if (dtype == DType::kFloat8E4M3) want = std::min(want, 448.0);  // it has no infinity
        const double allowed = dtype != DType::kFloat64 ? 0.501 : c.gated ? 200 : 4;
        worst = std::max(worst, ulp_distance(dtype, out[i], want) / allowed);
      }
      CHECK(worst <= 1.0);
    }
  }
}

TEST_CASE("log is within its bound on positive values") {
  for (const DType dtype : kFloatingTypes) {
    Array x = random_array(dtype, {503}, 4, 50.0);
    REQUIRE(abs(x, x));
    Array out(dtype, {503});
    REQUIRE(log(x, out));
    Values want;
    for (std::size_t i = 0; i < x.size(); ++i) {
      want.push_back(static_cast<double>(std::log(static_cast<Exact>(x[i]))));
    }
    CHECK(beyond_ulps(dtype == DType::kFloat64 ? 4 : 0.501, dtype, out, want) == "");
  }
}

TEST_CASE("square roots are correctly rounded, their reciprocals within their bound") {
  for (const DType dtype : kFloatingTypes) {
    Array x = random_array(dtype, {503}, 5, 50.0);
    REQUIRE(abs(x, x));
    Array root(dtype, {503}), reciprocal(dtype, {503});
    REQUIRE(sqrt(x, root));
    REQUIRE(rsqrt(x, reciprocal));
    CAPTURE(name_of(dtype));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Exact exact = std::sqrt(static_cast<Exact>(x[i]));
      CHECK(ulp_distance(dtype, root[i], static_cast<double>(exact)) <= 0.5);
      if (x[i] == 0) continue;
      const double allowed = dtype == DType::kFloat64 ? 1.5 : 0.501;
      CHECK(ulp_distance(dtype, reciprocal[i], static_cast<double>(1 / exact)) <= allowed);
    }
  }
  const Values roots = apply(sqrt, DType::kFloat32, {-0.0, -1, kInf, kNaN});
  CHECK(std::signbit(roots[0]));
  CHECK(roots[1] != roots[1]);
  CHECK(roots[2] == kInf);
  CHECK(roots[3] != roots[3]);
  const Values reciprocals = apply(rsqrt, DType::kFloat32, {0.0, -0.0, -1, kInf});
  CHECK(reciprocals[0] == kInf);
  CHECK(reciprocals[1] == -kInf);
  CHECK(reciprocals[2] != reciprocals[2]);
  CHECK(reciprocals[3] == 0);
}

TEST_CASE("whole numbers: down, up, to the nearest even of two, toward zero; zeros keep signs") {
  const Values x{-2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 3.5, kInf};
  const auto check = [&](Unary kernel, const Values& want) {
    for (const DType dtype : kFloatingTypes) {
      if (dtype == DType::kFloat8E4M3) continue;  // it has no infinity
      const Values got = apply(kernel, dtype, x);
      CHECK(got == want);
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (want[i] == 0) CHECK(std::signbit(got[i]) == std::signbit(want[i]));
      }
      CHECK(std::isnan(apply(kernel, dtype, {kNaN})[0]));
    }
  };
  check(floor, {-3, -2, -1, -0.0, 0, 1, 2, 3, kInf});
  check(ceil, {-2, -1, -0.0, -0.0, 1, 2, 3, 4, kInf});
  check(round, {-2, -2, -0.0, -0.0, 0, 2, 2, 4, kInf});
  check(trunc, {-2, -1, -0.0, -0.0, 0, 1, 2, 3, kInf});
  const Values large{4503599627370495.5, -4503599627370496.0, 9007199254740993.0};
  CHECK(apply(round, DType::kFloat64, large) ==
        Values{4503599627370496.0, -4503599627370496.0, 9007199254740992.0});
  CHECK(apply(round, DType::kFloat64, {0.49999999999999994}) == Values{0});
}

TEST_CASE("signs of numbers: zeros and NaN stay, integers give -1, 0 and 1") {
  const Values got = apply(sign, DType::kFloat16, {-3, 0.25, -0.0, 0.0, kNaN, kInf, -1e-7});
  CHECK(got[0] == -1);
  CHECK(got[1] == 1);
  CHECK(std::signbit(got[2]));
  CHECK_FALSE(std::signbit(got[3]));
  CHECK(got[4] != got[4]);
  CHECK(got[5] == 1);
  CHECK(got[6] == -1);
  CHECK(apply(sign, DType::kInt8, {-128, 0, 127}) == Values{-1, 0, 1});
  CHECK(apply(sign, DType::kUInt64, {0, 200}) == Values{0, 1});
}

TEST_CASE("gelu has the values of its formula") {
  const Values got = apply(gelu, DType::kFloat32, {0, 1, -1, 3, -10});
  CHECK(got[0] == 0);
  CHECK(got[1] == doctest::Approx(0.841192).epsilon(1e-6));
  CHECK(got[2] == doctest::Approx(-0.158808).epsilon(1e-6));
  CHECK(got[3] == doctest::Approx(2.996363).epsilon(1e-6));
  // The textbook form loses every digit here; the value itself is about -10 e^-87.3.
  CHECK(got[4] == doctest::Approx(-10 * std::exp(-2 * 0.79788456 * 54.715)).epsilon(1e-4));
}

TEST_CASE("gated functions reach their limits at infinity") {
  for (const Unary kernel : {Unary{silu}, Unary{gelu}, Unary{quick_gelu}}) {
    const Values got = apply(kernel, DType::kFloat32, {-kInf, kInf, kNaN, -1e30, 1e30});
    CHECK((got[0] == 0 && std::signbit(got[0])));
    CHECK(got[1] == kInf);
    CHECK(got[2] != got[2]);
    CHECK((got[3] == 0 && std::signbit(got[3])));
    CHECK(got[4] == static_cast<double>(1e30f));
  }
}

TEST_CASE("sign functions treat zeros, NaN and the lowest integers as stated") {
  CHECK(std::signbit(apply(neg, DType::kFloat16, {0.0})[0]));
  CHECK_FALSE(std::signbit(apply(abs, DType::kFloat16, {-0.0})[0]));
  CHECK(apply(abs, DType::kInt8, {-128, -127, 5}) == Values{-128, 127, 5});
  CHECK(apply(neg, DType::kInt8, {-128, 1}) == Values{-128, -1});
  CHECK(apply(neg, DType::kUInt8, {1}) == Values{255});
  CHECK(apply(abs, DType::kUInt8, {200}) == Values{200});
  const Values relu_got = apply(relu, DType::kBFloat16, {-0.0, -2, 3, kNaN, -kInf});
  CHECK_FALSE(std::signbit(relu_got[0]));
  CHECK(relu_got[1] == 0);
  CHECK(relu_got[2] == 3);
  CHECK(relu_got[3] != relu_got[3]);
  CHECK(relu_got[4] == 0);
  CHECK(apply(relu, DType::kInt32, {-5, 5}) == Values{0, 5});
}

TEST_CASE("exp and log reach infinity, zero and NaN") {
  const Values e = apply(exp, DType::kFloat16, {-kInf, kInf, 12, -20});
  CHECK(e == Values{0, kInf, kInf, 0});
  const Values l = apply(log, DType::kFloat32, {0, -1, kInf});
  CHECK(l[0] == -kInf);
  CHECK(l[1] != l[1]);
  CHECK(l[2] == kInf);
}

Array element(double value, DType dtype = DType::kFloat32) {
  return {dtype, {}, {value}};
}

TEST_CASE("clip keeps a zero that is at a bound with its sign") {
  Array clipped(DType::kFloat32, {2});
  const Array zeros(DType::kFloat32, {2}, {0.0, -0.0});
  for (const auto& [low, high] :
       {std::pair(0.0, 1.0), std::pair(-0.0, 1.0), std::pair(-1.0, 0.0), std::pair(-1.0, -0.0)}) {
    REQUIRE(clip(zeros, element(low), element(high), clipped));
    CHECK_FALSE(std::signbit(clipped.values()[0]));
    CHECK(std::signbit(clipped.values()[1]));
  }
}

TEST_CASE("clip compares with bounds of the element type") {
  const Array x(DType::kInt8, {4}, {-100, -1, 1, 100});
  Array out(DType::kInt8, {4});
  REQUIRE(clip(x, element(-2, DType::kInt8), element(127, DType::kInt8), out));
  CHECK(out.values() == Values{-2, -1, 1, 100});
  const Array y(DType::kFloat32, {4}, {-5, 0.5, 5, kNaN});
  Array clipped(DType::kFloat32, {4});
  REQUIRE(clip(y, element(-1), element(1), clipped));
  CHECK(clipped[0] == -1);
  CHECK(clipped[1] == 0.5);
  CHECK(clipped[2] == 1);
  CHECK(clipped[3] != clipped[3]);
  REQUIRE(clip(y, element(3), element(1), clipped));
  CHECK(clipped[0] == 1);
  CHECK_FALSE(clip(y, element(3, DType::kInt32), element(1), clipped));
}

TEST_CASE("unary kernels refuse other extents and types") {
  const Array x(DType::kFloat32, {2});
  Array longer(DType::kFloat32, {3});
  Array other(DType::kFloat16, {2});
  Array integers(DType::kInt32, {2});
  CHECK(exp(x, longer).error().code == diag::kKernelShape);
  CHECK(exp(x, other).error().code == diag::kKernelDType);
  CHECK(exp(integers, integers).error().code == diag::kKernelDType);
}

TEST_CASE("the magnitude of a complex number neither overflows nor loses small parts") {
  const Dims extents{7}, strides{1};
  const float single[] = {3, 4, -0.0f, 0, 3e38f, 3e38f, 1e-45f, 0, INFINITY, NAN, NAN, 1, -5, 12};
  Array out(DType::kFloat32, {7});
  REQUIRE(magnitude({DType::kComplexFP32, single, extents, strides}, out));
  CHECK(out.guards_intact());
  CHECK(out[0] == 5);
  CHECK_FALSE(std::signbit(out[1]));
  CHECK(out[2] == kInf);  // beyond Float32
  CHECK(out[3] == static_cast<double>(1e-45f));
  CHECK(out[4] == kInf);
  CHECK(std::isnan(out[5]));
  CHECK(out[6] == 13);
  Array many = random_array(DType::kFloat64, {999, 2}, 3);
  for (std::size_t i = 0; i < 999; i += 3) many.set(2 * i, many[2 * i] * 1e-9);
  many.set(0, 1e200), many.set(1, -1e200);
  const Dims all{999}, negative{-1};
  const View reversed{DType::kComplexFP64, many.as<double>() + 2 * 998, all, negative};
  Array sizes(DType::kFloat32, {999});
  REQUIRE(magnitude(reversed, sizes));
  CHECK(sizes[998] == kInf);
  Values want;
  for (std::size_t i = 0; i + 1 < 999; ++i) {
    const long double re = many[2 * (998 - i)], im = many[2 * (998 - i) + 1];
    want.push_back(static_cast<double>(std::sqrt(re * re + im * im)));
  }
  CHECK(beyond_ulps(0.501, DType::kFloat32, sizes, want) == "");
  CHECK(magnitude(many, sizes).error().code == diag::kKernelDType);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref::unary_test

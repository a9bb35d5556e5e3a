#include <doctest/doctest.h>

#include <bit>

#include "../seeds.hpp"
#include "fast_problem.hpp"
#include "kernels/fast/elementwise.hpp"

namespace mir::fast {
namespace {

using namespace test;

/// Every 16381st Float32, from all of them: subnormal and huge ones, infinities and NaN. Sanitizers
/// take fewer.
FloatValues samples() {
  FloatValues values;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32);
       bits += 16381 * mir::test::kCaseStride) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  // The parts where results are neither 0 nor infinite are few of them.
  const FloatValues near = random_floats(200000 / mir::test::kCaseStride, 51, 110.0);
  values.insert(values.end(), near.begin(), near.end());
  return values;
}

FloatValues apply(Unary function, const FloatValues& x, Context& context) {
  FloatValues out(x.size());
  unary(function, x.data(), out.data(), static_cast<std::int64_t>(x.size()), context);
  return out;
}

/// The largest error in units in the last place of the exact values, less `exponent_ulp` |x| for
/// x < 0, down to where e^x vanishes; results must be NaN where those are, and infinite where those
/// round to infinity.
template <class Exact>
double worst_ulp(const FloatValues& x, const FloatValues& got, Exact exact,
                 double exponent_ulp = 0) {
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = exact(static_cast<double>(x[i]));
    if (want != want || std::isinf(static_cast<float>(want))) {
      const float rounded = static_cast<float>(want);
      CHECK((rounded == got[i] || (rounded != rounded && got[i] != got[i])));
    } else {
      if (got[i] != got[i]) return HUGE_VAL;
      const double granted = exponent_ulp * std::clamp(-static_cast<double>(x[i]), 0.0, 104.0);
      worst = std::max(worst, std::fabs(got[i] - want) / float_ulp(want) - granted);
    }
  }
  return worst;
}

TEST_SUITE_BEGIN("fast kernels");

TEST_CASE("exp, sigmoid and silu are within their ULP of all kinds of arguments") {
  const FloatValues x = samples();
  on_each_isa([&](Context& context) {
    const auto worst = [&](Unary function, double exponent_ulp, auto exact) {
      return worst_ulp(x, apply(function, x, context), exact, exponent_ulp);
    };
    CHECK(worst(Unary::kExp, 0, [](double v) { return std::exp(v); }) <= kExpUlp);
    CHECK(worst(Unary::kSigmoid, kSigmoidExponentUlp,
                [](double v) { return 1 / (1 + std::exp(-v)); }) <= kUnaryUlp);
    CHECK(worst(Unary::kSilu, kSigmoidExponentUlp, [](double v) {
            return v == -HUGE_VAL ? -0.0 : v / (1 + std::exp(-v));
          }) <= kUnaryUlp);
  });
}

TEST_CASE("log, sin and cos are within their ULP of all kinds of arguments") {
  FloatValues x = samples();
  const FloatValues near = random_floats(100000 / mir::test::kCaseStride, 53, 1.0);
  for (const float v : near) x.insert(x.end(), {1 + v * 0x1p-8F, v * 1e6F, v * 0x1p-120F});
  on_each_isa([&](Context& context) {
    const auto worst = [&](Unary function, auto exact) {
      return worst_ulp(x, apply(function, x, context), exact);
    };
    CHECK(worst(Unary::kLog, [](double v) { return std::log(v); }) <= kLogUlp);
    CHECK(worst(Unary::kSin, [](double v) { return std::sin(v); }) <= kCircularUlp);
    CHECK(worst(Unary::kCos, [](double v) { return std::cos(v); }) <= kCircularUlp);
    CHECK(std::signbit(apply(Unary::kSin, {-0.0F}, context)[0]));
    CHECK(apply(Unary::kLog, {1.0F, 0.0F, -0.0F}, context) ==
          FloatValues{0.0F, -HUGE_VALF, -HUGE_VALF});
  });
}

TEST_CASE("tanh, erf and rsqrt are within their ULP of all kinds of arguments") {
  FloatValues x = samples();
  const FloatValues near = random_floats(400000 / mir::test::kCaseStride, 54, 4.5);
  for (const float v : near) x.insert(x.end(), {v, v * 0x1p-6F, v * 0x1p-120F});
  on_each_isa([&](Context& context) {
    const auto worst = [&](Unary function, auto exact) {
      return worst_ulp(x, apply(function, x, context), exact);
    };
    CAPTURE(name_of(context.isa()));
    CHECK(worst(Unary::kTanh, [](double v) { return std::tanh(v); }) <= kTanhUlp);
    CHECK(worst(Unary::kErf, [](double v) { return std::erf(v); }) <= kErfUlp);
    CHECK(worst(Unary::kRsqrt, [](double v) { return 1 / std::sqrt(v); }) <= kRsqrtUlp);
    for (const Unary function : {Unary::kTanh, Unary::kErf}) {
      const FloatValues ends = apply(function, {-0.0F, HUGE_VALF, -HUGE_VALF, 10.0F}, context);
      CHECK(std::signbit(ends[0]));
      CHECK(ends == FloatValues{0, 1, -1, 1});
    }
  });
}

TEST_CASE("exp is exact at its edges and rounds subnormal results once") {
  const FloatValues x = {0.0F,     -0.0F,     HUGE_VALF, -HUGE_VALF, 88.7228F,
                         88.7229F, -103.972F, -103.973F, -200.0F,    -3e38F};
  const FloatValues want = {1, 1, HUGE_VALF, 0, 0x1.fffe1p+127F, HUGE_VALF, 0x1p-149F, 0, 0, 0};
  on_each_isa([&](Context& context) {
    const FloatValues got = apply(Unary::kExp, x, context);
    for (std::size_t i = 0; i < x.size(); ++i) {
      CAPTURE(x[i]);
      if (i == 4) {
        CHECK(std::isfinite(got[i]));
      } else {
        CHECK(got[i] == want[i]);
      }
    }
  });
}

TEST_CASE("a number's function has the same bits at any place of a vector") {
  FloatValues x = random_floats(67, 52, 20.0);
  x.insert(x.begin() + 9, 2e6F);  // what sin and cos do not compute as a vector
  on_each_isa([&](Context& context) {
    for (const Unary function : {Unary::kExp, Unary::kLog, Unary::kSin, Unary::kCos, Unary::kTanh,
                                 Unary::kErf, Unary::kSilu, Unary::kGelu, Unary::kQuickGelu}) {
      const FloatValues all = apply(function, x, context);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float alone = apply(function, {x[i]}, context)[0];
        CHECK(std::bit_cast<std::uint32_t>(alone) == std::bit_cast<std::uint32_t>(all[i]));
      }
    }
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::fast

#include "kernels/ref/elementary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "../seeds.hpp"

namespace mir::ref {
namespace {

using Exact = long double;

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kQuietNaN = std::numeric_limits<T>::quiet_NaN();

/// How far `got` is from `want`, in units of the last place of T; overflow is right from the
/// midpoint after the largest finite value on.
template <class T>
double distance(T got, Exact want) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0.0 : 1e9;
  if (std::isinf(got)) {
    const Exact edge = Limits::max() * (1 + std::ldexp(Exact{1}, -Limits::digits - 1));
    return std::fabs(want) >= edge && (want > 0) == (got > 0) ? 0.0 : 1e9;
  }
  if (want == 0) return got == 0 ? 0.0 : 1e9;
  int exponent = 0;
  std::frexp(want, &exponent);
  const int unit = std::max(exponent, Limits::min_exponent) - Limits::digits;
  return static_cast<double>(std::fabs(got - want) / std::ldexp(Exact{1}, unit));
}

/// Finite arguments: random bit patterns, a dense range, and the same scaled towards zero.
template <class T>
class Samples {
 public:
  explicit Samples(double range) : range_(-range, range) {}

  T next() {
    const unsigned kind = static_cast<unsigned>(bits_() % 3);
    if (kind == 0) {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      const T value = std::bit_cast<T>(static_cast<Bits>(bits_()));
      return std::isfinite(value) ? value : T{1};
    }
    const double value = range_(bits_);
    return static_cast<T>(kind == 1 ? value : std::ldexp(value, -static_cast<int>(bits_() % 70)));
  }

 private:
  std::mt19937_64 bits_{20};
  std::uniform_real_distribution<double> range_;
};

template <class T, class Function, class Reference>
double worst_distance(double range, Function function, Reference reference) {
  Samples<T> samples(range);
  constexpr auto kSamples = 150000 / static_cast<int>(mir::test::kCaseStride);
  double worst = 0;
  for (int i = 0; i < kSamples; ++i) {
    const T x = samples.next();
    worst = std::max(worst, distance<T>(function(x), reference(static_cast<Exact>(x))));
  }
  return worst;
}

constexpr double kFloatBound = 0.500001;
constexpr double kDoubleBound = 5.0;

#define CHECK_ULP(function, range)                                                  \
  do {                                                                              \
    const auto exact = [](Exact x) { return std::function(x); };                    \
    CHECK(worst_distance<float>(                                                    \
              range, [](float x) { return function(x); }, exact) <= kFloatBound);   \
    CHECK(worst_distance<double>(                                                   \
              range, [](double x) { return function(x); }, exact) <= kDoubleBound); \
  } while (false)

TEST_SUITE_BEGIN("kernels");

TEST_CASE("exp is within its bound") {
  CHECK_ULP(exp, 110.0);
}
TEST_CASE("log is within its bound") {
  CHECK_ULP(log, 4.0);
}
TEST_CASE("sin is within its bound") {
  CHECK_ULP(sin, 100.0);
}
TEST_CASE("cos is within its bound") {
  CHECK_ULP(cos, 100.0);
}
TEST_CASE("tanh is within its bound") {
  CHECK_ULP(tanh, 12.0);
}
TEST_CASE("erf is within its bound") {
  CHECK_ULP(erf, 5.0);
}

TEST_CASE("exp and expm1 in double hold over their whole range") {
  const auto e = [](double x) { return exp(x); };
  const auto e1 = [](double x) { return expm1(x); };
  CHECK(worst_distance<double>(750.0, e, [](Exact x) { return std::exp(x); }) <= 1.0);
  CHECK(worst_distance<double>(50.0, e1, [](Exact x) { return std::expm1(x); }) <= 2.0);
}

TEST_CASE("sigmoid in double is within its bound") {
  const auto exact = [](Exact x) { return 1 / (1 + std::exp(-x)); };
  const auto ours = [](double x) { return sigmoid(x); };
  CHECK(worst_distance<double>(60.0, ours, exact) <= kDoubleBound);
}

TEST_CASE("exp of every float near overflow and in the subnormal range is nearest") {
  double worst = 0;
  for (const float edge : {88.7228f, -87.3365f, -103.9721f}) {
    float x = edge;
    for (int i = 0; i < 4000; ++i) {
      worst = std::max(worst, distance<float>(exp(x), std::exp(static_cast<Exact>(x))));
      x = std::nextafter(x, 0.0f);
    }
  }
  CHECK(worst <= kFloatBound);
}

TEST_CASE("sine and cosine hold next to multiples of a quarter turn") {
  double worst = 0;
  for (std::int64_t n = 1; n < 3000000; n += 1 + n / 50) {
    const auto middle = static_cast<double>(static_cast<Exact>(n) * 1.57079632679489661923132L);
    for (const double x : {std::nextafter(middle, 0.0), middle, std::nextafter(middle, 1e300)}) {
      worst = std::max(worst, distance<double>(sin(x), std::sin(static_cast<Exact>(x))));
      worst = std::max(worst, distance<double>(cos(-x), std::cos(static_cast<Exact>(x))));
    }
  }
  CHECK(worst <= 1.0);
}

TEST_CASE("the double nearest to a multiple of a quarter turn keeps its cosine") {
  CHECK(cos(6381956970095103.0 * 0x1p797) == -0x1.14ae72e6ba22fp-61);
}

TEST_CASE("the largest floats reduce exactly") {
  const float x = std::numeric_limits<float>::max();
  CHECK(distance<float>(sin(x), std::sin(static_cast<Exact>(x))) <= kFloatBound);
  CHECK(distance<float>(cos(x), std::cos(static_cast<Exact>(x))) <= kFloatBound);
}

TEST_CASE("special arguments give what the header says") {
  constexpr float kInf = kInfinity<float>;
  CHECK(exp(kInf) == kInf);
  CHECK(exp(-kInf) == 0.0f);
  CHECK(exp(0.0f) == 1.0f);
  CHECK(log(0.0f) == -kInf);
  CHECK(log(-0.0f) == -kInf);
  CHECK(std::isnan(log(-1.0f)));
  CHECK(log(kInf) == kInf);
  CHECK(std::isnan(sin(kInf)));
  CHECK(std::isnan(cos(-kInf)));
  CHECK(tanh(kInf) == 1.0f);
  CHECK(tanh(-kInf) == -1.0f);
  CHECK(erf(kInf) == 1.0f);
  CHECK(erf(-kInf) == -1.0f);
  CHECK(expm1(-kInfinity<double>) == -1.0);
  CHECK(expm1(kInfinity<double>) == kInfinity<double>);
  CHECK(sigmoid(-kInfinity<double>) == 0.0);
  CHECK(sigmoid(kInfinity<double>) == 1.0);
}

TEST_CASE("log of one is plus zero and odd functions keep the sign of zero") {
  CHECK(std::bit_cast<std::uint32_t>(log(1.0f)) == 0);
  CHECK(std::signbit(sin(-0.0f)));
  CHECK(std::signbit(tanh(-0.0f)));
  CHECK(std::signbit(erf(-0.0f)));
  CHECK(std::signbit(expm1(-0.0)));
  CHECK_FALSE(std::signbit(sin(0.0f)));
}

TEST_CASE("a NaN gives a NaN") {
  constexpr float kNaN = kQuietNaN<float>;
  CHECK(std::isnan(exp(kNaN)));
  CHECK(std::isnan(log(kNaN)));
  CHECK(std::isnan(sin(kNaN)));
  CHECK(std::isnan(cos(kNaN)));
  CHECK(std::isnan(tanh(kNaN)));
  CHECK(std::isnan(erf(kNaN)));
  CHECK(std::isnan(expm1(kQuietNaN<double>)));
  CHECK(std::isnan(sigmoid(kQuietNaN<double>)));
}

TEST_CASE("the bits of a fixed sample never change") {
  // FNV-1a over results; a change of any operation, constant or compiler flag shows here.
  std::uint64_t hash = 14695981039346656037u;
  const auto mix = [&hash](double value) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211u;
  };
  for (int i = -2000; i <= 2000; ++i) {
    const double x = i * 0.0173;
    mix(exp(x));
    mix(expm1(x));
    mix(log(x * x + 0.001));
    mix(sin(x * 1e6));
    mix(cos(x * 1e3));
    mix(tanh(x));
    mix(erf(x));
    mix(sigmoid(x));
  }
  CHECK(hash == 16739925146548670460u);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref

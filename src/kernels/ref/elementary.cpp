// Exponentials, logarithms, powers, sines and error functions with the same bits everywhere.
#include "kernels/ref/elementary.hpp"

#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/ref/common/angle.hpp"
#include "kernels/ref/common/power_of_two.hpp"
#include "kernels/ref/numeric.hpp"

namespace mir::ref {
namespace {

static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must not keep extra precision");

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kLn2High = 0x1.62e42fefa3800p-1;  // 42 bits: exact times any exponent
constexpr double kLn2Low = 0x1.ef35793c76730p-45;
constexpr double kTwoOverSqrtPi = 0x1.20dd750429b6dp+0;
constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;

/// c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t N>
double polynomial(const std::array<double, N>& c, double x) {
  double sum = c[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

/// x 2^k for |k| <= 1100 and x near 1, rounded once.
double scale(double x, int k) {
  if (k > 1000) return x * power_of_two(1000) * power_of_two(k - 1000);
  if (k < -1000) return x * power_of_two(-960) * power_of_two(k + 960);
  return x * power_of_two(k);
}

struct Exponential {
  int k;           // x = k ln2 + r, |r| <= ln2 / 2
  double minus_1;  // e^r - 1
};

/// |x| <= 750.
Exponential reduce_exponential(double x) {
  static constexpr std::array<double, 12> kTaylor = {
      1.0 / 2,     1.0 / 6,      1.0 / 24,      1.0 / 120,      1.0 / 720,       1.0 / 5040,
      1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  const double k = std::floor(x * kLog2E + 0.5);
  const double high = x - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  const double rest = (high - r) - low;
  return {static_cast<int>(k), r + (r * r * polynomial(kTaylor, r) + rest)};
}

/// sin(r.high + r.low) for |r| <= pi/4.
double sin_kernel(Angle r) {
  static constexpr std::array<double, 7> kTaylor = {
      1.0 / 120,        -1.0 / 5040,          1.0 / 362880,         -1.0 / 39916800,
      1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
  const double x = r.high;
  const double z = x * x;
  const double cubic = z * x;
  return x - ((z * (0.5 * r.low - cubic * polynomial(kTaylor, z)) - r.low) + cubic * (1.0 / 6));
}

/// cos(r.high + r.low) for |r| <= pi/4.
double cos_kernel(Angle r) {
  static constexpr std::array<double, 8> kTaylor = {
      1.0 / 24,        -1.0 / 720,         1.0 / 40320,          -1.0 / 3628800,
      1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000};
  const double x = r.high;
  const double z = x * x;
  const double half = 0.5 * z;
  const double one = 1.0 - half;
  return one + (((1.0 - one) - half) + (z * z * polynomial(kTaylor, z) - x * r.low));
}

/// e^(-x^2) with the rounding error of x^2 compensated.
double gaussian(double x) {
  const double head =
      std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~((std::uint64_t{1} << 27) - 1));
  return exp(-head * head) * exp((head - x) * (head + x));
}

/// 2/sqrt(pi) e^(-x^2) x (1 + 2x^2/3 (1 + 2x^2/5 (1 + ...))) for 0 <= x < 1.
double erf_series(double x) {
  const double z = 2.0 * x * x;
  double sum = 1.0;
  for (int n = 25; n >= 1; --n) sum = 1.0 + sum * z / (2 * n + 1);
  return kTwoOverSqrtPi * gaussian(x) * x * sum;
}

/// e^(-x^2) / sqrt(pi) / (x + (1/2)/(x + (2/2)/(x + (3/2)/(x + ...)))) for x >= 1.
double erfc_fraction(double x) {
  double below = x;
  for (int n = 180; n >= 1; --n) below = x + 0.5 * n / below;
  return 0.5 * kTwoOverSqrtPi * gaussian(x) / below;
}

}  // namespace

double exp(double x) {
  if (x != x) return x;
  if (x > 710.0) return kInfinity;
  if (x < -746.0) return 0.0;
  const Exponential e = reduce_exponential(x);
  return scale(1.0 + e.minus_1, e.k);
}

double expm1(double x) {
  if (x == 0) return x;
  if (!(x > -40.0 && x < 40.0)) return exp(x) - 1.0;
  const Exponential e = reduce_exponential(x);
  const double power = power_of_two(e.k);
  return (power - 1.0) + power * e.minus_1;
}

double log(double x) {
  static constexpr std::array<double, 10> kSeries = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,
                                                     2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17,
                                                     2.0 / 19, 2.0 / 21};
  if (x == 0) return -kInfinity;
  if (x < 0) return kNaN;
  if (!(x < kInfinity)) return x;
  constexpr double kSmallestNormal = std::numeric_limits<double>::min();
  const bool subnormal = x < kSmallestNormal;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(subnormal ? x * 0x1p54 : x);
  int k = static_cast<int>(bits >> 52) - 1022 - (subnormal ? 54 : 0);
  double m =
      std::bit_cast<double>((bits & ~(std::uint64_t{0x7ff} << 52)) | (std::uint64_t{1022} << 52));
  if (m < kSqrtHalf) {
    m *= 2.0;
    --k;
  }
  // With s = f/(2+f): log(1+f) = 2s + s R, and 2s = f - s f; the square term is split off exactly.
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double r = s * s * polynomial(kSeries, s * s);
  const double half_square = 0.5 * f * f;
  const double tail = s * (half_square + r) + k * kLn2Low;
  return k * kLn2High - ((half_square - tail) - f);
}

double sin(double x) {
  if (x == 0 || x != x) return x;
  if (x - x != 0) return kNaN;
  const Angle r = reduce_angle(x);
  const double value = r.quadrant % 2 == 0 ? sin_kernel(r) : cos_kernel(r);
  return r.quadrant >= 2 ? -value : value;
}

double cos(double x) {
  if (x - x != 0) return kNaN;
  const Angle r = reduce_angle(x);
  const double value = r.quadrant % 2 == 0 ? cos_kernel(r) : sin_kernel(r);
  return r.quadrant == 1 || r.quadrant == 2 ? -value : value;
}

double tanh(double x) {
  if (x == 0 || x != x) return x;
  if (x > 22.0) return 1.0;
  if (x < -22.0) return -1.0;
  const double t = expm1(x < 0 ? -2.0 * x : 2.0 * x);
  const double value = t / (t + 2.0);
  return x < 0 ? -value : value;
}

double erf(double x) {
  if (x == 0 || x != x) return x;
  const double magnitude = x < 0 ? -x : x;
  double value = 1.0;
  if (magnitude < 1.0) {
    value = erf_series(magnitude);
  } else if (magnitude < 6.0) {
    value = 1.0 - erfc_fraction(magnitude);
  }
  return x < 0 ? -value : value;
}

double sigmoid(double x) {
  if (x < 0) {
    const double e = exp(x);
    return e / (1.0 + e);
  }
  return 1.0 / (1.0 + exp(-x));
}

double rsqrt(double x) {
  return 1.0 / std::sqrt(x);
}

float exp(float x) {
  return narrow_to_float(exp(static_cast<double>(x)));
}
float log(float x) {
  return narrow_to_float(log(static_cast<double>(x)));
}
float sin(float x) {
  return narrow_to_float(sin(static_cast<double>(x)));
}
float cos(float x) {
  return narrow_to_float(cos(static_cast<double>(x)));
}
float tanh(float x) {
  return narrow_to_float(tanh(static_cast<double>(x)));
}
float erf(float x) {
  return narrow_to_float(erf(static_cast<double>(x)));
}

float rsqrt(float x) {
  return narrow_to_float(rsqrt(static_cast<double>(x)));
}

}  // namespace mir::ref

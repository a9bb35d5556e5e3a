// Reduces angles modulo pi/4: by subtraction if they are moderate, by bits of 2/pi if large.
#include "kernels/ref/common/angle.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace mir::ref {
namespace {

// note [large angles]
// A large x is m 2^e with a 53-bit integer m. Of x 2/pi only the value modulo 4 matters, and bit i
// of 2/pi (weight 2^-i) adds multiples of 4 when i <= e - 2. So 192 bits of 2/pi from bit e - 1 on
// times m, kept modulo 2^192, is (x 2/pi) mod 4 with two integer bits and 190 fraction bits. Its
// error is below 2^-137; no double is closer to a multiple of pi/2 than about 2^-62 of it.
/// 64 zero bits, then the fraction bits of 2/pi.
constexpr std::array<std::uint64_t, 20> kTwoOverPiBits = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
// pi/2 in pieces: three of 33 bits, exact times a 20-bit integer, and the rest.
constexpr double kHalfPi1 = 0x1.921fb54400000p+0;
constexpr double kHalfPi2 = 0x1.0b4611a600000p-34;
constexpr double kHalfPi3 = 0x1.3198a2e000000p-69;
constexpr double kHalfPi4 = 0x1.b839a252049c1p-104;
// pi/2 in two pieces, the first of 26 bits.
constexpr double kHalfPiHead = 0x1.921fb50000000p+0;
constexpr double kHalfPiTail = 0x1.110b4611a6263p-26;

struct ExactSum {
  double value;
  double error;
};

/// a + b = value + error, exactly.
ExactSum exact_sum(double a, double b) {
  const double value = a + b;
  const double b_part = value - a;
  return {value, (a - (value - b_part)) + (b - b_part)};
}

/// |x| < 2^20.
Angle reduce_moderate(double x) {
  const double n = std::floor(x * kTwoOverPi + 0.5);
  const ExactSum first = exact_sum(x - n * kHalfPi1, -(n * kHalfPi2));
  const ExactSum second = exact_sum(first.value, -(n * kHalfPi3));
  const ExactSum result = exact_sum(second.value, (first.error + second.error) - n * kHalfPi4);
  return {static_cast<int>(static_cast<std::int64_t>(n) & 3), result.value, result.error};
}

std::uint64_t two_over_pi_bits(int position) {
  const std::size_t word = static_cast<std::size_t>(position) / 64;
  const int shift = position % 64;
  const std::uint64_t high = kTwoOverPiBits[word] << shift;
  return shift == 0 ? high : high | (kTwoOverPiBits[word + 1] >> (64 - shift));
}

using Fraction = std::array<std::uint64_t, 3>;  // most significant word first

struct DoubleWord {
  std::uint64_t high;
  std::uint64_t low;
};

/// a b + c. Not every machine has integers of 128 bits.
DoubleWord multiply_add(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  constexpr std::uint64_t kLow = 0xffffffff;
  const std::uint64_t low = (a & kLow) * (b & kLow) + (c & kLow);
  const std::uint64_t first = (a >> 32) * (b & kLow) + (low >> 32);
  const std::uint64_t second = (a & kLow) * (b >> 32) + (first & kLow) + (c >> 32);
  return {(a >> 32) * (b >> 32) + (first >> 32) + (second >> 32), second << 32 | (low & kLow)};
}

/// Bits m W modulo 2^192, W the window of 2/pi that starts at `position`.
Fraction multiply_window(std::uint64_t m, int position) {
  std::uint64_t carry = 0;
  Fraction product{};
  for (int i = 2; i >= 0; --i) {
    const DoubleWord sum = multiply_add(m, two_over_pi_bits(position + 64 * i), carry);
    product[static_cast<std::size_t>(i)] = sum.low;
    carry = sum.high;
  }
  return product;
}

Fraction shift_left(const Fraction& f, int bits) {
  if (bits == 0) return f;
  return {(f[0] << bits) | (f[1] >> (64 - bits)), (f[1] << bits) | (f[2] >> (64 - bits)),
          f[2] << bits};
}

Fraction negate(const Fraction& f) {
  const std::uint64_t low = ~f[2] + 1;
  const std::uint64_t middle = ~f[1] + (low == 0);
  return {~f[0] + (low == 0 && middle == 0), middle, low};
}

/// f 2^-192 pi/2 for f > 0.
ExactSum times_half_pi(Fraction f) {
  int exponent = 0;
  if (f[0] == 0) {
    f = {f[1], f[2], 0};
    exponent = -64;
  }
  const int zeros = std::countl_zero(f[0]);
  f = shift_left(f, zeros);
  exponent -= zeros;
  const double head = static_cast<double>(f[0] >> 38) * 0x1p-26;
  const double tail = static_cast<double>(((f[0] << 26) | (f[1] >> 38)) >> 11) * 0x1p-79;
  const double unit = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
  const ExactSum sum = exact_sum(head * kHalfPiHead, head * kHalfPiTail + tail * kHalfPi);
  return {sum.value * unit, sum.error * unit};
}

/// 2^20 <= |x| finite.
Angle reduce_large(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t m = (bits & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1} << 52);
  const int e = static_cast<int>((bits >> 52) & 0x7ff) - 1075;
  const Fraction product = multiply_window(m, e + 62);
  int quadrant = static_cast<int>(product[0] >> 62);
  Fraction fraction = shift_left(product, 2);
  const bool past_half = fraction[0] >> 63 != 0;
  if (past_half) {
    fraction = negate(fraction);
    ++quadrant;
  }
  ExactSum r = times_half_pi(fraction);
  const bool negative = x < 0;
  if (past_half != negative) r = {-r.value, -r.error};
  return {(negative ? -quadrant : quadrant) & 3, r.value, r.error};
}

}  // namespace

Angle reduce_angle(double x) {
  const double magnitude = std::fabs(x);
  if (magnitude <= 0.5 * kHalfPi) return {0, x, 0.0};
  return magnitude < 0x1p20 ? reduce_moderate(x) : reduce_large(x);
}

}  // namespace mir::ref

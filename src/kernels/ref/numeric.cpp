// Conversions between double and Float16, BFloat16 and the two 8-bit float types.
#include "kernels/ref/numeric.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/ref/common/power_of_two.hpp"

namespace mir::ref {
namespace {

/// The bits of the number that is nearest to a finite value, in a format with these field widths:
/// ties to even, and all exponents taken for those of numbers.
template <int kExponentBits, int kFractionBits>
std::uint32_t nearest(double value) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint32_t>(bits >> 63) << (kExponentBits + kFractionBits);
  const double magnitude = std::bit_cast<double>(bits & ~(std::uint64_t{1} << 63));
  // The value in units of the last place of its binade, which subnormals share with the smallest
  // normals. A carry out of the fraction is right: it leads to the next binade, or to infinity.
  const int exponent = std::max(static_cast<int>(bits >> 52 & 0x7ff) - 1023, 1 - kBias);
  const double units = magnitude * power_of_two(kFractionBits - exponent);
  auto whole = static_cast<std::uint32_t>(units);
  const double rest = units - whole;
  if (rest > 0.5 || (rest == 0.5 && whole % 2 == 1)) ++whole;
  const auto binade = static_cast<std::uint32_t>(exponent + kBias - 1) << kFractionBits;
  return sign | (binade + whole);
}

/// The IEEE format with these field widths.
template <int kExponentBits, int kFractionBits>
std::uint32_t narrow(double value) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr std::uint32_t kInfinityBits = ((1u << kExponentBits) - 1) << kFractionBits;
  if (value != value) return kInfinityBits | (1u << (kFractionBits - 1));
  if (std::fabs(value) < power_of_two(kBias + 1)) {
    return nearest<kExponentBits, kFractionBits>(value);
  }
  const std::uint32_t sign = value < 0 ? 1u << (kExponentBits + kFractionBits) : 0;
  return sign | kInfinityBits;
}

}  // namespace

double widen(Half value) {
  const int sign = value.bits >> 15;
  const int exponent = value.bits >> 10 & 31;
  const int fraction = value.bits & 1023;
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = fraction * 0x1p-24;
  } else {
    magnitude = (1024 + fraction) * power_of_two(exponent - 25);
  }
  return sign == 0 ? magnitude : -magnitude;
}

double widen(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

double widen(Float8E4M3 value) {
  const int exponent = value.bits >> 3 & 15;
  const int fraction = value.bits & 7;
  if (exponent == 15 && fraction == 7) return std::numeric_limits<double>::quiet_NaN();
  const double magnitude =
      exponent == 0 ? fraction * 0x1p-9 : (8 + fraction) * power_of_two(exponent - 10);
  return value.bits >> 7 == 0 ? magnitude : -magnitude;
}

double widen(Float8E5M2 value) {
  return widen(Half{static_cast<std::uint16_t>(value.bits << 8)});
}

Half narrow_to_half(double value) {
  return {static_cast<std::uint16_t>(narrow<5, 10>(value))};
}
BFloat16 narrow_to_bfloat16(double value) {
  return {static_cast<std::uint16_t>(narrow<8, 7>(value))};
}
Float8E5M2 narrow_to_float8_e5m2(double value) {
  return {static_cast<std::uint8_t>(narrow<5, 2>(value))};
}
Float8E4M3 narrow_to_float8_e4m3(double value) {
  constexpr double kLargest = 448;
  constexpr std::uint8_t kNaN = 0x7f;
  if (value != value) return {kNaN};
  return {static_cast<std::uint8_t>(nearest<4, 3>(std::clamp(value, -kLargest, kLargest)))};
}

}  // namespace mir::ref

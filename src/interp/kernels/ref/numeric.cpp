#include "mir/kernels/ref/numeric.hpp"

#include <algorithm>
#include <bit>

namespace mir::ref {
namespace {

/// 2^k for k in [-1022, 1023].
double power_of_two(int k) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

/// The 16-bit IEEE format with these field widths.
template <int kExponentBits, int kFractionBits>
std::uint16_t narrow(double value) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr std::uint32_t kInfinity = ((1u << kExponentBits) - 1) << kFractionBits;
  if (value != value) return kInfinity | (1u << (kFractionBits - 1));

  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint32_t>(bits >> 63) << 15;
  const double magnitude = std::bit_cast<double>(bits & ~(std::uint64_t{1} << 63));
  if (magnitude >= power_of_two(kBias + 1)) return static_cast<std::uint16_t>(sign | kInfinity);

  // The value in units of the last place of its binade, which subnormals share with the smallest
  // normals. A carry out of the fraction is right: it leads to the next binade, or to infinity.
  const int exponent = std::max(static_cast<int>(bits >> 52 & 0x7ff) - 1023, 1 - kBias);
  const double units = magnitude * power_of_two(kFractionBits - exponent);
  auto whole = static_cast<std::uint32_t>(units);
  const double rest = units - whole;
  if (rest > 0.5 || (rest == 0.5 && whole % 2 == 1)) ++whole;
  const auto binade = static_cast<std::uint32_t>(exponent + kBias - 1) << kFractionBits;
  return static_cast<std::uint16_t>(sign | (binade + whole));
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

Half narrow_to_half(double value) {
  return {narrow<5, 10>(value)};
}
BFloat16 narrow_to_bfloat16(double value) {
  return {narrow<8, 7>(value)};
}

}  // namespace mir::ref

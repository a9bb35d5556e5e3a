// Encodes numbers to MXFP4 blocks and decodes them.
#include "kernels/ref/mxfp4.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mir::ref {
namespace {

constexpr std::size_t kHalf = kMxfp4Lanes / 2;
constexpr std::array<double, 8> kMagnitudes = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
constexpr int kScaleBias = 127;
constexpr unsigned kNanScale = 255;
constexpr int kLargestExponent = 2;  // 6 is 1.5 times 2^2

double value_of(unsigned code, double scale) {
  const double magnitude = kMagnitudes[code & 7] * scale;
  return (code & 8) == 0 ? magnitude : -magnitude;
}

/// x in units of the scale; the code with its sign bit.
unsigned code_for(double x) {
  const double magnitude = std::abs(x);
  unsigned code = 0;
  // Code c + 1 is nearer from the middle on, and on the middle itself when it is the even one.
  while (code < 7) {
    const double middle = (kMagnitudes[code] + kMagnitudes[code + 1]) / 2;
    if (magnitude < middle || (magnitude == middle && code % 2 == 0)) break;
    ++code;
  }
  return code | (std::signbit(x) ? 8u : 0u);
}

/// The exponent of the scale of a block whose largest finite magnitude is `largest`.
int scale_exponent(double largest) {
  if (largest == 0) return -kScaleBias;
  return std::clamp(std::ilogb(largest) - kLargestExponent, -kScaleBias, kScaleBias);
}

void encode_block(std::span<const double> values, std::span<std::byte> block) {
  double largest = 0;
  bool has_nan = false, has_infinity = false;
  for (const double value : values) {
    has_nan |= std::isnan(value);
    has_infinity |= std::isinf(value);
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  const int exponent = has_infinity ? kScaleBias : scale_exponent(largest);
  for (std::size_t i = 0; i < kHalf; ++i) {
    const unsigned low = code_for(std::ldexp(values[i], -exponent));
    const unsigned high = code_for(std::ldexp(values[i + kHalf], -exponent));
    block[i] = static_cast<std::byte>(low | high << 4);
  }
  block[kHalf] =
      static_cast<std::byte>(has_nan ? kNanScale : static_cast<unsigned>(exponent + kScaleBias));
}

}  // namespace

void decode_mxfp4(std::span<const std::byte> blocks, std::span<double> values) {
  for (std::size_t b = 0; b * kMxfp4Bytes < blocks.size(); ++b) {
    const auto block = blocks.subspan(b * kMxfp4Bytes, kMxfp4Bytes);
    const auto out = values.subspan(b * kMxfp4Lanes, kMxfp4Lanes);
    const auto stored = std::to_integer<unsigned>(block[kHalf]);
    const double scale = stored == kNanScale
                             ? std::numeric_limits<double>::quiet_NaN()
                             : std::ldexp(1.0, static_cast<int>(stored) - kScaleBias);
    for (std::size_t i = 0; i < kHalf; ++i) {
      const auto codes = std::to_integer<unsigned>(block[i]);
      out[i] = stored == kNanScale ? scale : value_of(codes & 15, scale);
      out[i + kHalf] = stored == kNanScale ? scale : value_of(codes >> 4, scale);
    }
  }
}

void encode_mxfp4(std::span<const double> values, std::span<std::byte> blocks) {
  for (std::size_t b = 0; b * kMxfp4Bytes < blocks.size(); ++b) {
    encode_block(values.subspan(b * kMxfp4Lanes, kMxfp4Lanes),
                 blocks.subspan(b * kMxfp4Bytes, kMxfp4Bytes));
  }
}

}  // namespace mir::ref

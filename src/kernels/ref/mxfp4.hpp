// MXFP4: blocks of 32 four-bit floats with one scale (OCP Microscaling Formats, MXFP4).
#pragma once

#include <cstddef>
#include <span>

#include "mir/diagnostic.hpp"

namespace mir::ref {

inline constexpr std::size_t kMxfp4Lanes = 32;
inline constexpr std::size_t kMxfp4Bytes = 17;

/// The values of whole blocks, exactly. Byte i of a block has the code of element i in its low and
/// that of element i + 16 in its high half; a code is a sign and {0, 0.5, 1, 1.5, 2, 3, 4, 6}. Byte
/// 16 is the scale 2^(byte - 127); 255 makes all 32 elements NaN.
void decode_mxfp4(std::span<const std::byte> blocks, std::span<double> values);

/// The scale is 2^(e - 2) with 2^e the largest power of two that is not above the largest
/// magnitude, at least 2^-127 and at most 2^127; codes are nearest, ties to the even code, and
/// saturate at 6 scales. A block with a NaN becomes NaN as a whole; infinities saturate. Zeros keep
/// their sign.
void encode_mxfp4(std::span<const double> values, std::span<std::byte> blocks);

}  // namespace mir::ref

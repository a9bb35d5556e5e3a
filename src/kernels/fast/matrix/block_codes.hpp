// Blocks of ggml and MIR_Q4_A32 as integer codes, with scales and minima of runs of 32 or 16.
#pragma once

#include <array>
#include <cstdint>

#include "mir/tensor.hpp"

namespace mir::fast {

/// Elements of activations that share a scale.
inline constexpr std::int64_t kRun = 32;
/// Rows of activations that are multiplied together.
inline constexpr std::int64_t kBlockTileRows = 4;
/// Bytes of a row that a lane processes at once.
inline constexpr std::int64_t kXBytes = 4;
/// Elements of the longest block.
inline constexpr std::int64_t kMostBlockLanes = 256;

/// Storage of the scales and minima of runs.
enum class RunParameters : std::uint8_t {
  kHalves,   ///< Float16
  kFloats,   ///< Float32
  kBytes,    ///< Int8 factors of a Float16 scale and a Float16 minimum of the block
  kNibbles,  ///< likewise, but the two factors share a byte: the scale has its low half
};

/// The content of a block. Element k is s (codes[k] - BlockLayout::offset) + m with the scale s and
/// the minimum m of its run. With factors, s = scale scales[run] and m = -minimum minima[run];
/// otherwise the block is one run, s = scale and m = minimum.
struct BlockCodes {
  std::array<std::uint8_t, kMostBlockLanes> codes;  ///< signed if BlockLayout::is_signed()
  std::array<std::uint8_t, 16> scales;              ///< factors, or both factors of each run
  std::array<std::uint8_t, 16> minima;
  std::uint32_t scale_bits;  ///< Float32 for RunParameters::kFloats, otherwise Float16
  std::uint32_t minimum_bits;
};

/// Codes are divided into planes: the lower bits of all codes, and their upper bits.
struct BlockLayout {
  int low_bits;      ///< 2, 4 or 8
  int high_bits;     ///< 0, 1 or 2
  std::int64_t run;  ///< elements that share a scale: kRun or half of it
  int offset;
  bool has_minimum;
  RunParameters parameters;
  std::int64_t lanes;  ///< elements of a block as stored, a multiple of kRun
  void (*read)(const std::uint8_t* block, BlockCodes& to);

  /// True if the codes are multiplied as numbers of 8 bits, otherwise of 4.
  constexpr bool is_byte() const { return low_bits + high_bits > 4; }
  constexpr bool is_signed() const { return low_bits == 8; }
  constexpr bool has_factors() const {
    return parameters == RunParameters::kBytes || parameters == RunParameters::kNibbles;
  }
};

/// Returns null for types that have no runs of 32 elements.
const BlockLayout* block_layout(DType dtype);

}  // namespace mir::fast

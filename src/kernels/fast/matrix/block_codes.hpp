// Blocks of ggml and MIR_Q4_A32 as runs of 32 or 16 integer codes with a scale and a minimum.
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

/// Element k is scale (codes[k] - BlockLayout::offset) + minimum.
struct BlockRun {
  std::array<std::uint8_t, kRun> codes;  ///< of 8 bits: signed; BlockLayout::run of them
  float scale;
  float minimum;
  std::uint16_t scale_bits;    ///< as Float16, where BlockLayout::has_halves
  std::uint16_t minimum_bits;  ///< likewise
};

struct BlockLayout {
  int code_bits;     ///< 4 or 8, of packed codes
  std::int64_t run;  ///< elements that share a scale: kRun or half of it
  int offset;        ///< of codes of 4 bits: 0 or 8
  bool has_minimum;
  bool has_halves;     ///< scale and minimum are Float16, else Float32
  std::int64_t lanes;  ///< elements of a block as stored, a multiple of kRun
  /// Run number `run` of a row of blocks.
  void (*read)(const std::uint8_t* row, std::int64_t run, BlockRun& to);
};

/// Returns null for types that have no runs of 32 elements.
const BlockLayout* block_layout(DType dtype);

}  // namespace mir::fast

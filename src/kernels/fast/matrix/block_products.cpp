// Linear layers with block weights: rounds activations to 8 bits and multiplies integer codes.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/fast/limits.hpp"
#include "kernels/fast/matrix/block_codes.hpp"
#include "kernels/fast/matrix/linear_tile.hpp"
#include "kernels/fast/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/matrix/block_products.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/linear_store-inl.h"
#include "kernels/fast/matrix/micro-inl.h"

#ifndef MIR_KERNELS_FAST_BLOCK_TYPES_
#define MIR_KERNELS_FAST_BLOCK_TYPES_

namespace mir::fast {

/// Offset that Q4_0 subtracts from its codes.
inline constexpr std::int32_t kOffset4 = 8;

/// Sums over the runs of activations, of some length: the sum of the decoded values, and the
/// initial values of sums of products with codes of 4 and of 8 bits.
struct RunSums {
  float* sums;  ///< null: not asked for
  std::int32_t* starts4;
  std::int32_t* starts8;

  RunSums at(std::int64_t i) const {
    return sums == nullptr ? *this : RunSums{sums + i, starts4 + i, starts8 + i};
  }
};

/// Activations of 8 bits: codes as bytes and as words, or null, and the scale of each run. Blocks
/// of kBlockTileRows rows follow each other, the last may have fewer; of a block, run follows run,
/// and of a run the rows lie side by side.
struct RoundedRow {
  std::int8_t* bytes;
  std::int16_t* words;
  float* scales;
  RunSums runs;
  RunSums halves;           ///< for weights with two scales in a run
  std::int64_t block_rows;  ///< of the block of this row
};

/// One tile, with all rows of the call.
struct BlockTask {
  LinearTile tile;
  RoundedRow x;
  std::int64_t runs;
  float* scratch;   ///< of this thread: two sums for each row and output of the tile
  float* expanded;  ///< of this thread: BlockTable::expanded_floats, if the tile has several blocks
                    ///< of rows
};

struct BlockTable {
  std::int64_t width;            ///< outputs of a panel
  bool takes_words;              ///< with weights of 8 bits
  std::int64_t expanded_floats;  ///< size of the part of a panel that is expanded at once
  std::int64_t (*panel_bytes)(const BlockLayout& layout, std::int64_t depth);
  void (*pack_panel)(const std::byte* weight, const PackedMatrix& matrix, const BlockLayout& layout,
                     std::int64_t panel, std::byte* to);
  void (*round_row)(const float* x, std::int64_t depth, const RoundedRow& to);
  void (*run)(const BlockTask& task);
  /// Multiplies codes of 4 or 8 bits in registers, again and again; the products done.
  double (*multiply_codes[2])();
};

}  // namespace mir::fast

#endif  // once

#define MIR_DOT_BODY "kernels/fast/matrix/block_products-inl.h"
#define MIR_DOT_FEATURE ",avx512vnni"
#define MIR_DOT_BASE blocks
#define MIR_DOT_LEVEL vnni_blocks
#include "kernels/fast/matrix/dot_level-inl.h"

#if HWY_ONCE

#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES_OF(BlockTable, blocks, avx512_vnni, vnni_blocks);

/// A task reads about this much of a matrix, so that taking it costs little.
constexpr std::int64_t kTaskBytes = 32768;

}  // namespace

double multiply_codes(int bits, Context& context) {
  const auto multiply = tables.at(context.isa()).multiply_codes[bits == 4 ? 0 : 1];
  return 2 * in_every_thread(context, multiply);
}

bool is_packable_block(DType dtype, std::int64_t depth) {
  const BlockLayout* const layout = block_layout(dtype);
  return layout != nullptr && depth % layout->lanes == 0;
}

std::size_t packed_block_bytes(DType dtype, std::int64_t outputs, std::int64_t depth,
                               IsaLevel isa) {
  const BlockTable& table = tables.at(isa);
  const std::int64_t panel = table.panel_bytes(*block_layout(dtype), depth);
  return static_cast<std::size_t>(round_up(panels_of(outputs, table.width) * panel, 64));
}

void pack_blocks(const std::byte* weight, const PackedMatrix& to, std::byte* at, Context& context) {
  const BlockTable& table = tables.at(context.isa());
  const BlockLayout& layout = *block_layout(to.dtype);
  context.pool().for_each(panels_of(to.outputs, table.width), [&](std::int64_t panel, unsigned) {
    table.pack_panel(weight, to, layout, panel, at);
  });
}

namespace {

template <class Is>
bool any_layout(const LinearCall& call, Is is) {
  return std::ranges::any_of(call.targets, [&](const LinearTarget& target) {
    return is(*block_layout(target.weight->dtype));
  });
}

bool has_codes_of(int bits, const LinearCall& call) {
  return any_layout(call,
                    [&](const BlockLayout& layout) { return layout.is_byte() == (bits == 8); });
}

/// Division of scratch memory, in floats: codes, the scales and sums of their runs, then memory of
/// each thread.
struct BlockScratch {
  std::int64_t words, scales, runs, halves, own;

  BlockScratch(std::int64_t count, bool has_bytes, bool has_words, bool has_halves) {
    words = has_bytes ? count * kRun / 4 : 0;
    scales = words + (has_words ? count * kRun / 2 : 0);
    runs = scales + count;
    halves = runs + 3 * count;
    own = round_up(halves + (has_halves ? 6 * count : 0), 16);
  }
};

RunSums run_sums(float* at, std::int64_t count) {
  return {.sums = at,
          .starts4 = reinterpret_cast<std::int32_t*>(at + count),
          .starts8 = reinterpret_cast<std::int32_t*>(at + 2 * count)};
}

/// `all` runs of rows from `row` on in their block; see RoundedRow.
RoundedRow rounded_row(const RoundedRow& all, std::int64_t row, std::int64_t rows,
                       std::int64_t runs) {
  const std::int64_t place = row % kBlockTileRows;
  const std::int64_t i = (row - place) * runs + place;
  const std::int64_t first = (row - place) * runs * kRun;
  return {.bytes = all.bytes == nullptr ? nullptr : all.bytes + first + place * kXBytes,
          .words = all.words == nullptr ? nullptr : all.words + first + place * kXBytes / 2,
          .scales = all.scales + i,
          .runs = all.runs.at(i),
          .halves = all.halves.at(2 * (row - place) * runs + place),
          .block_rows = std::min(kBlockTileRows, rows - (row - place))};
}

}  // namespace

void run_block_products(const LinearCall& call, Context& context) {
  const BlockTable& table = tables.at(context.isa());
  const std::int64_t runs = call.depth / kRun, all = call.rows * runs;
  const bool has_words = table.takes_words && has_codes_of(8, call);
  const bool has_bytes = !table.takes_words || has_codes_of(4, call);
  const bool has_halves =
      any_layout(call, [](const BlockLayout& layout) { return layout.run != kRun; });
  const BlockScratch at(all, has_bytes, has_words, has_halves);
  const std::int64_t sums = round_up(2 * std::min(call.rows, kTileRows) * table.width, 16);
  const std::int64_t own =
      round_up(std::max(sums + (call.rows <= kBlockTileRows ? 0 : table.expanded_floats),
                        call.norm == nullptr ? 0 : call.depth),
               16);
  float* const scratch = context.scratch(at.own + own * context.pool().threads()).data();
  const RoundedRow x = {
      .bytes = has_bytes ? reinterpret_cast<std::int8_t*>(scratch) : nullptr,
      .words = has_words ? reinterpret_cast<std::int16_t*>(scratch + at.words) : nullptr,
      .scales = scratch + at.scales,
      .runs = run_sums(scratch + at.runs, all),
      .halves = has_halves ? run_sums(scratch + at.halves, 2 * all) : RunSums{},
      .block_rows = 0};
  context.pool().for_each(call.rows, [&](std::int64_t row, unsigned thread) {
    const float* const from = row_of(call, row, scratch + at.own + own * thread, context.isa());
    table.round_row(from, call.depth, rounded_row(x, row, call.rows, runs));
  });
  const BlockLayout& layout = *block_layout(call.targets.front().weight->dtype);
  const std::int64_t panel_bytes = std::max<std::int64_t>(table.panel_bytes(layout, call.depth), 1);
  const std::int64_t panels_per_task =
      call.rows == 1 ? std::max<std::int64_t>(kTaskBytes / panel_bytes, 1) : 1;
  for_each_tile(call, table.width, panels_per_task, context.pool(),
                [&](const LinearTile& tile, unsigned thread) {
                  float* const of_thread = scratch + at.own + own * thread;
                  table.run({.tile = tile,
                             .x = x,
                             .runs = runs,
                             .scratch = of_thread,
                             .expanded = of_thread + sums});
                });
}

}  // namespace mir::fast

#endif  // HWY_ONCE

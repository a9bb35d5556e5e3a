// Linear layers with BFloat16 weights: packing, and dispatch to the BFloat16 instructions.
#include <algorithm>
#include <cstring>

#include "kernels/fast/limits.hpp"
#include "kernels/fast/matrix/linear_tile.hpp"
#include "kernels/fast/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/matrix/bfloat_products.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/linear_store-inl.h"
#include "kernels/fast/matrix/micro-inl.h"

#ifndef MIR_KERNELS_FAST_BFLOAT_TYPES_
#define MIR_KERNELS_FAST_BFLOAT_TYPES_

namespace mir::fast {

struct BfloatTask {
  LinearTile tile;
  const float* x;       ///< blocks of x_step rows from the first one of the tile on
  std::int64_t x_step;  ///< the rows of a block, or those of the call where they are fewer
  std::int64_t pairs;
  float* scratch;  ///< of this thread: two sums for each row and output of the tile
};

struct BfloatTable {
  std::int64_t width;  ///< outputs of a panel
  std::int64_t block_rows;
  std::int64_t pair_floats;  ///< memory of a pair of x
  void (*pack_panel)(const std::byte* weight, DType dtype, std::int64_t outputs, std::int64_t depth,
                     std::int64_t panel, std::byte* to);
  void (*pack_row)(const float* x, std::int64_t depth, std::int64_t row, std::int64_t step,
                   float* to);
  void (*run)(const BfloatTask& task);
  /// Multiplies pairs in registers repeatedly, and returns the number of products. Null if BFloat16
  /// is multiplied as Float32.
  double (*multiply)();
};

}  // namespace mir::fast

#endif  // once

#define MIR_DOT_BODY "kernels/fast/matrix/bfloat_products-inl.h"
#define MIR_DOT_FEATURE ",avx512bf16"
#define MIR_DOT_BASE bfloats
#define MIR_DOT_LEVEL dot_bfloats
#include "kernels/fast/matrix/dot_level-inl.h"

#if HWY_ONCE

#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES_OF(BfloatTable, bfloats, avx512_bf16, dot_bfloats);

std::int64_t pairs_of(std::int64_t depth) {
  return (depth + 1) / 2;
}

}  // namespace

double multiply_bfloats(Context& context) {
  const auto multiply = tables.at(context.isa()).multiply;
  return multiply == nullptr ? 0 : 2 * in_every_thread(context, multiply);
}

std::size_t packed_bfloat_bytes(std::int64_t outputs, std::int64_t depth, IsaLevel isa) {
  const std::int64_t width = tables.at(isa).width;
  const std::int64_t pairs = panels_of(outputs, width) * width * pairs_of(depth);
  return static_cast<std::size_t>(round_up(pairs * 4, 64));
}

void pack_bfloats(const std::byte* weight, const PackedMatrix& to, std::byte* at,
                  Context& context) {
  const BfloatTable& table = tables.at(context.isa());
  context.pool().for_each(panels_of(to.outputs, table.width), [&](std::int64_t panel, unsigned) {
    table.pack_panel(weight, to.dtype, to.outputs, to.depth, panel, at);
  });
}

void run_bfloat_products(const LinearCall& call, Context& context) {
  const BfloatTable& table = tables.at(context.isa());
  const std::int64_t pairs = pairs_of(call.depth);
  const std::int64_t step = std::min(table.block_rows, call.rows);
  const std::int64_t row_floats = pairs * table.pair_floats;
  const std::int64_t x_size = round_up(round_up(call.rows, step) * row_floats, 16);
  const std::int64_t own_size = round_up(std::max(2 * std::min(call.rows, kTileRows) * table.width,
                                                  call.norm == nullptr ? 0 : call.depth),
                                         16);
  float* const x = context.scratch(x_size + own_size * context.pool().threads()).data();
  context.pool().for_each((call.rows + step - 1) / step, [&](std::int64_t block, unsigned thread) {
    const std::int64_t first = block * step, count = std::min(step, call.rows - first);
    float* const own = x + x_size + own_size * thread;
    for (std::int64_t row = 0; row < count; ++row) {
      table.pack_row(row_of(call, first + row, own, context.isa()), call.depth, row, step,
                     x + first * row_floats);
    }
  });
  for_each_tile(call, table.width, 1, context.pool(), [&](const LinearTile& tile, unsigned thread) {
    table.run({.tile = tile,
               .x = x + tile.row * row_floats,
               .x_step = step,
               .pairs = pairs,
               .scratch = x + x_size + own_size * thread});
  });
}

}  // namespace mir::fast

#endif  // HWY_ONCE

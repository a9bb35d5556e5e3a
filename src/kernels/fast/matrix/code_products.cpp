// Linear layers with 8-bit codes on both sides: packing, and products summed in integers.
#include <algorithm>
#include <cstring>

#include "kernels/fast/matrix/block_codes.hpp"
#include "kernels/fast/matrix/linear_tile.hpp"
#include "kernels/fast/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/matrix/code_products.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/linear_store-inl.h"
#include "kernels/fast/matrix/micro-inl.h"

#ifndef MIR_KERNELS_FAST_CODE_TYPES_
#define MIR_KERNELS_FAST_CODE_TYPES_

namespace mir::fast {

inline std::int64_t runs_of(std::int64_t depth) {
  return (depth + kRun - 1) / kRun;
}

struct CodeTask {
  LinearTile tile;
  const std::byte* x;             ///< of the call, in blocks of rows
  const std::int32_t* sums_of_x;  ///< likewise
  std::int64_t runs;
  std::int32_t zero;    ///< of x as the kernel has it
  const float* scales;  ///< of the panel's outputs
  float* sums;          ///< of this thread: for each row and output of the tile
};

struct CodeTable {
  std::int64_t width;      ///< outputs of a panel
  std::int64_t row_bytes;  ///< of a run of a row of x
  std::int64_t (*panel_bytes)(std::int64_t runs);
  void (*pack_panel)(const std::int8_t* weight, const PackedMatrix& matrix, std::int64_t panel,
                     std::byte* to);
  /// `flip` turns codes as stored into signed ones; their sum.
  std::int32_t (*place_row)(const std::uint8_t* codes, int flip, std::int64_t depth,
                            std::int64_t block_rows, std::byte* to);
  void (*run)(const CodeTask& task);
};

}  // namespace mir::fast

#endif  // once

#define MIR_DOT_BODY "kernels/fast/matrix/code_products-inl.h"
#define MIR_DOT_FEATURE ",avx512vnni"
#define MIR_DOT_BASE codes
#define MIR_DOT_LEVEL vnni_codes
#include "kernels/fast/matrix/dot_level-inl.h"

#if HWY_ONCE

#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES_OF(CodeTable, codes, avx512_vnni, vnni_codes);

/// Division of scratch memory, in floats: rows of x, their sums, scales of all panels, then memory
/// of each thread.
struct CodeScratch {
  std::int64_t sums, scales, own, own_size;

  CodeScratch(const CodeProduct& product, const CodeTable& table) {
    const std::int64_t runs = runs_of(product.weight->depth);
    sums = round_up(product.rows * runs * table.row_bytes / 4, 16);
    scales = sums + round_up(product.rows, 16);
    own = scales + round_up(product.weight->outputs, table.width) + 16;
    own_size = round_up(std::min(product.rows, kTileRows) * table.width, 16);
  }
};

}  // namespace

std::size_t packed_code_bytes(std::int64_t outputs, std::int64_t depth, IsaLevel isa) {
  const CodeTable& table = tables.at(isa);
  return static_cast<std::size_t>(
      round_up(panels_of(outputs, table.width) * table.panel_bytes(runs_of(depth)), 64));
}

void pack_codes(const std::byte* weight, const PackedMatrix& to, std::byte* at, Context& context) {
  const CodeTable& table = tables.at(context.isa());
  context.pool().for_each(panels_of(to.outputs, table.width), [&](std::int64_t panel, unsigned) {
    table.pack_panel(reinterpret_cast<const std::int8_t*>(weight), to, panel, at);
  });
}

void linear_codes(const CodeProduct& product, Context& context) {
  if (product.rows == 0) return;
  const CodeTable& table = tables.at(context.isa());
  const std::int64_t depth = product.weight->depth, runs = runs_of(depth);
  const CodeScratch at(product, table);
  float* const scratch = context.scratch(at.own + at.own_size * context.pool().threads()).data();
  auto* const x = reinterpret_cast<std::byte*>(scratch);
  auto* const sums_of_x = reinterpret_cast<std::int32_t*>(scratch + at.sums);
  float* const scales = scratch + at.scales;
  std::copy_n(product.scales, product.weight->outputs, scales);
  std::fill(scales + product.weight->outputs, scratch + at.own, 0.0F);
  const int flip = product.is_unsigned ? 128 : 0;
  context.pool().for_each(product.rows, [&](std::int64_t row, unsigned) {
    const std::int64_t place = row % kBlockTileRows, first = row - place;
    const auto* const codes = reinterpret_cast<const std::uint8_t*>(product.x) + row * depth;
    sums_of_x[row] =
        table.place_row(codes, flip, depth, std::min(kBlockTileRows, product.rows - first),
                        x + first * runs * table.row_bytes + place * kXBytes);
  });
  const LinearTarget target = {.weight = product.weight,
                               .out = product.out,
                               .out_stride = product.weight->outputs,
                               .epilogue = {.bias = product.bias}};
  LinearCall call;
  call.rows = product.rows;
  call.depth = depth;
  call.targets = {&target, 1};
  for_each_tile(call, table.width, 1, context.pool(), [&](const LinearTile& tile, unsigned thread) {
    table.run({.tile = tile,
               .x = x,
               .sums_of_x = sums_of_x,
               .runs = runs,
               .zero = product.zero - flip,
               .scales = scales + tile.panel * table.width,
               .sums = scratch + at.own + at.own_size * thread});
  });
}

}  // namespace mir::fast

#endif  // HWY_ONCE

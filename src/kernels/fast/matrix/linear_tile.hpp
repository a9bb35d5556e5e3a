// Tiles of products with packed weights: some rows times one panel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/fast/matrix/linear.hpp"

namespace mir::fast {

/// Pointers and the epilogue are those of the first row.
struct LinearTile {
  std::int64_t row = 0;  ///< the first
  std::int64_t rows = 0;
  const PackedMatrix* weight = nullptr;
  const PackedMatrix* up = nullptr;  ///< null unless gated
  std::int64_t panel = 0;
  float* out = nullptr;
  std::int64_t out_stride = 0;
  Epilogue epilogue = {};
};

/// Arguments shared by all tiles. `up` is the second factor of the only target, or null.
struct LinearCall : LinearRows {
  std::int64_t depth = 0;
  std::span<const LinearTarget> targets;
  const PackedMatrix* up = nullptr;
};

/// A row of x as it is multiplied. `own` has room for what a norm makes of it.
inline const float* row_of(const LinearCall& call, std::int64_t row, float* own, IsaLevel isa) {
  const float* const x = call.x + row * call.x_stride;
  if (call.norm == nullptr) return x;
  rms_norm_row(x, own, call.depth, *call.norm, isa);
  return own;
}

/// Rows of one tile: enough to read a panel rarely, few enough that shapes of a decoder give every
/// thread the same work.
inline constexpr std::int64_t kTileRows = 32;

inline std::int64_t panels_of(std::int64_t outputs, std::int64_t width) {
  return (outputs + width - 1) / width;
}

inline std::int64_t round_up(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

/// Tiles of rows that go past a panel one after the other: so many that they fit half a usual
/// second-level cache, where they stay for the next panel. If no two do, all, and the panel stays.
inline std::int64_t row_tiles_together(std::int64_t depth, std::int64_t row_tiles) {
  constexpr std::int64_t kBytes = std::int64_t{512} << 10;
  const std::int64_t fit = kBytes / std::max<std::int64_t>(depth * 4 * kTileRows, 1);
  return fit < 2 ? row_tiles : std::min(fit, row_tiles);
}

/// Calls run(tile, thread) for all tiles of a call, panels being `width` outputs wide. A task has
/// all tiles of `panels_per_task` panels and some rows.
template <class Run>
void for_each_tile(const LinearCall& call, std::int64_t width, std::int64_t panels_per_task,
                   ThreadPool& pool, Run run) {
  const std::int64_t row_tiles = (call.rows + kTileRows - 1) / kTileRows;
  std::int64_t panels = 0;
  for (const LinearTarget& target : call.targets) {
    panels += panels_of(target.weight->outputs, width);
  }
  const std::int64_t tasks = (panels + panels_per_task - 1) / panels_per_task;
  const std::int64_t together = row_tiles_together(call.depth, row_tiles);
  pool.for_each(tasks * row_tiles, [&](std::int64_t task, unsigned thread) {
    const std::int64_t first_tile = task / (together * tasks) * together;
    const std::int64_t tiles = std::min(together, row_tiles - first_tile);
    const std::int64_t at_tile = task - first_tile * tasks;
    const std::int64_t row = (first_tile + at_tile % tiles) * kTileRows;
    const std::int64_t first = at_tile / tiles * panels_per_task;
    const LinearTarget* target = call.targets.data();
    std::int64_t panel = first, of_target = panels_of(target->weight->outputs, width);
    for (std::int64_t left = std::min(panels_per_task, panels - first); left > 0; --left, ++panel) {
      while (panel >= of_target) {
        panel -= of_target;
        of_target = panels_of((++target)->weight->outputs, width);
      }
      LinearTile tile{.row = row,
                      .rows = std::min(kTileRows, call.rows - row),
                      .weight = target->weight,
                      .up = call.up,
                      .panel = panel,
                      .out = target->out + row * target->out_stride,
                      .out_stride = target->out_stride,
                      .epilogue = target->epilogue};
      if (tile.epilogue.residual != nullptr) {
        tile.epilogue.residual += row * tile.epilogue.residual_stride;
      }
      run(tile, thread);
    }
  });
}

/// Calls body() once in each thread and returns the sum of its results.
template <class Body>
double in_every_thread(Context& context, Body body) {
  const unsigned threads = context.pool().threads();
  std::vector<double> amounts(threads);
  context.pool().for_each(threads, [&](std::int64_t task, unsigned) {
    amounts[static_cast<std::size_t>(task)] = body();
  });
  return std::accumulate(amounts.begin(), amounts.end(), 0.0);
}

// The families of weights; see linear.hpp for what the functions do.

std::size_t packed_float_bytes(DType dtype, std::int64_t outputs, std::int64_t depth, IsaLevel isa);
void pack_floats(const std::byte* weight, const PackedMatrix& to, std::byte* at, Context& context);
void run_float_products(const LinearCall& call, Context& context);

std::size_t packed_bfloat_bytes(std::int64_t outputs, std::int64_t depth, IsaLevel isa);
void pack_bfloats(const std::byte* weight, const PackedMatrix& to, std::byte* at, Context& context);
void run_bfloat_products(const LinearCall& call, Context& context);

bool is_packable_block(DType dtype, std::int64_t depth);
std::size_t packed_block_bytes(DType dtype, std::int64_t outputs, std::int64_t depth, IsaLevel isa);
void pack_blocks(const std::byte* weight, const PackedMatrix& to, std::byte* at, Context& context);
void run_block_products(const LinearCall& call, Context& context);

std::size_t packed_code_bytes(std::int64_t outputs, std::int64_t depth, IsaLevel isa);
void pack_codes(const std::byte* weight, const PackedMatrix& to, std::byte* at, Context& context);

}  // namespace mir::fast

// Linear layers with Float32, BFloat16 or Float16 weights: packs panels and multiplies tiles.
#include "kernels/fast/matrix/linear.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "kernels/fast/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/matrix/linear.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/linear_store-inl.h"
#include "kernels/fast/matrix/micro-inl.h"

#ifndef MIR_KERNELS_FAST_LINEAR_TYPES_
#define MIR_KERNELS_FAST_LINEAR_TYPES_

#include "kernels/fast/matrix/linear_tile.hpp"

namespace mir::fast {

inline constexpr std::int64_t kMostBlockRows = 16;

struct LinearTask {
  LinearTile tile;
  const float* a;  ///< blocks of kBlockRows rows, each k after k; or one row as it is
  bool is_packed;
  std::int64_t depth;
  float* scratch;  ///< of this thread
};

struct LinearTable {
  std::int64_t panel_width;
  std::int64_t lanes;  ///< the last panel is as many vectors wide as it needs
  std::int64_t block_rows;
  /// Floats of scratch memory for tasks of so many rows.
  std::int64_t (*scratch_size)(std::int64_t rows);
  void (*pack_panel)(const std::byte* weight, DType dtype, std::int64_t outputs, std::int64_t depth,
                     std::int64_t panel, std::byte* to);
  void (*run)(const LinearTask& task);
};

}  // namespace mir::fast

#endif  // once

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

/// Scratch of a task: sums of the panel, sums of the gate's factor, a block of a panel as floats.
std::int64_t scratch_size(std::int64_t rows) {
  return 2 * rows * kPanelWidth + kDepthBlock * kPanelWidth;
}

/// Columns of a panel as it is packed.
std::int64_t width_of(std::int64_t outputs, std::int64_t panel) {
  return std::min(kPanelWidth, round_up(outputs - panel * kPanelWidth, kLanes));
}

template <class T>
void pack_panel_of(const std::byte* bytes, std::int64_t outputs, std::int64_t depth,
                   std::int64_t panel, std::byte* to) {
  constexpr std::int64_t kTile = 64 / static_cast<std::int64_t>(sizeof(T));
  const T* const weight = reinterpret_cast<const T*>(bytes);
  T* const packed = reinterpret_cast<T*>(to) + panel * kPanelWidth * depth;
  const std::int64_t first = panel * kPanelWidth, width = width_of(outputs, panel);
  const std::int64_t columns = std::min(width, outputs - first);
  if (columns < width) {
    std::memset(packed, 0, static_cast<std::size_t>(width * depth) * sizeof(T));
  }
  // Tiles of one cache line of each weight row.
  for (std::int64_t k = 0; k < depth; k += kTile) {
    const std::int64_t end = std::min(k + kTile, depth);
    for (std::int64_t column = 0; column < columns; ++column) {
      const T* const row = weight + (first + column) * depth;
      for (std::int64_t i = k; i < end; ++i) packed[i * width + column] = row[i];
    }
  }
}

void pack_panel(const std::byte* weight, DType dtype, std::int64_t outputs, std::int64_t depth,
                std::int64_t panel, std::byte* to) {
  if (dtype == DType::kFloat32) {
    pack_panel_of<std::uint32_t>(weight, outputs, depth, panel, to);
  } else {
    pack_panel_of<std::uint16_t>(weight, outputs, depth, panel, to);
  }
}

/// One row and one or two panels: every element is used once, so panels stream from memory. Two go
/// side by side, because sums of one alone would wait for each other.
template <std::size_t kPanels, class B>
void multiply_row(const float* x, const std::array<const B*, kPanels>& panels, std::int64_t depth,
                  const std::array<float*, kPanels>& sums) {
  const Floats d;
  for (std::int64_t start = 0; start < depth; start += kDepthBlock) {
    const std::int64_t end = std::min(start + kDepthBlock, depth);
    FloatVector sum[kPanels][kPanelVectors];
    HWY_UNROLL(2)
    for (std::size_t panel = 0; panel < kPanels; ++panel) {
      HWY_UNROLL(3)
      for (int v = 0; v < kPanelVectors; ++v) sum[panel][v] = hn::Zero(d);
    }
    for (std::int64_t k = start; k < end; ++k) {
      const FloatVector factor = hn::Set(d, x[k]);
      HWY_UNROLL(2)
      for (std::size_t panel = 0; panel < kPanels; ++panel) {
        const B* const b = panels[panel] + k * kPanelWidth;
        HWY_UNROLL(3)
        for (int v = 0; v < kPanelVectors; ++v) {
          sum[panel][v] = hn::MulAdd(factor, load_floats(b + v * kLanes), sum[panel][v]);
          hwy::Prefetch(reinterpret_cast<const char*>(b + v * kLanes) + kPrefetchBytes);
        }
      }
    }
    HWY_UNROLL(2)
    for (std::size_t panel = 0; panel < kPanels; ++panel) {
      HWY_UNROLL(3)
      for (int v = 0; v < kPanelVectors; ++v) {
        float* const to = sums[panel] + v * kLanes;
        hn::StoreU(start == 0 ? sum[panel][v] : hn::Add(hn::LoadU(d, to), sum[panel][v]), d, to);
      }
    }
  }
}

/// Multiplies blocks of rows by a part of a panel that stays in the cache, and prefetches
/// `later_bytes` at `later` meanwhile: only the first use of a part would wait for memory.
template <class B>
void multiply_part(const LinearTask& task, std::int64_t k, std::int64_t depth, const B* part,
                   const void* later, std::int64_t later_bytes, float* sums) {
  const std::int64_t steps = (task.tile.rows + kBlockRows - 1) / kBlockRows * depth;
  const std::int64_t later_step = (later_bytes + steps - 1) / steps;
  const char* at = static_cast<const char*>(later);
  for (std::int64_t row = 0; row < task.tile.rows; row += kBlockRows) {
    const int rows = static_cast<int>(std::min<std::int64_t>(kBlockRows, task.tile.rows - row));
    const Block<B> block = {.a = task.a + row * task.depth + k * kBlockRows,
                            .a_row = 1,
                            .a_step = kBlockRows,
                            .b = part,
                            .b_step = kPanelWidth,
                            .depth = depth,
                            .c = sums + row * kPanelWidth,
                            .c_row = kPanelWidth,
                            .adds = k != 0,
                            .later = at,
                            .later_step = later_step};
    at += later_step * depth;
    if (later_step > kLaterBytes) {
      multiply_rows<kPanelVectors, Fetch::kPanel>(rows, block);
    } else {
      multiply_rows<kPanelVectors, Fetch::kLater>(rows, block);
    }
  }
}

template <class B>
void widen(const B* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    hn::StoreU(load_floats(from + i), Floats(), to + i);
  }
}

/// All rows against a part of a last panel of fewer vectors.
template <int kVectors>
void multiply_narrow_part(const LinearTask& task, std::int64_t k, std::int64_t depth,
                          const float* part, float* sums) {
  for (std::int64_t row = 0; row < task.tile.rows; row += kBlockRows) {
    const int rows = static_cast<int>(std::min<std::int64_t>(kBlockRows, task.tile.rows - row));
    const std::int64_t step = task.is_packed ? kBlockRows : 1;
    const Block<float> block = {.a = task.a + row * task.depth + k * step,
                                .a_row = 1,
                                .a_step = step,
                                .b = part,
                                .b_step = kVectors * kLanes,
                                .depth = depth,
                                .c = sums + row * kPanelWidth,
                                .c_row = kPanelWidth,
                                .adds = k != 0};
    multiply_rows<kVectors, Fetch::kNothing, float, kBlockRows>(rows, block);
  }
}

template <class B>
void multiply_narrow_panel(const LinearTask& task, const B* panel, std::int64_t width,
                           float* widened, float* sums) {
  static_assert(kPanelVectors == 3);
  const auto multiply_rows_of = width == kLanes ? multiply_narrow_part<1> : multiply_narrow_part<2>;
  for (std::int64_t k = 0; k < task.depth; k += kDepthBlock) {
    const std::int64_t depth = std::min(kDepthBlock, task.depth - k);
    if constexpr (std::is_same_v<B, float>) {
      multiply_rows_of(task, k, depth, panel + k * width, sums);
    } else {
      widen(panel + k * width, depth * width, widened);
      multiply_rows_of(task, k, depth, widened, sums);
    }
  }
}

/// The task's panel of a weight.
template <class B>
const B* panel_of(const LinearTask& task, const PackedMatrix& weight) {
  return reinterpret_cast<const B*>(weight.data) + task.tile.panel * kPanelWidth * task.depth;
}

/// The sums of all rows of the task for its panel of `weight`.
template <class B>
void multiply_panel(const LinearTask& task, const PackedMatrix& weight, float* widened,
                    float* sums) {
  const B* const panel = panel_of<B>(task, weight);
  const std::int64_t width = width_of(weight.outputs, task.tile.panel);
  if (width < kPanelWidth) return multiply_narrow_panel(task, panel, width, widened, sums);
  if (!task.is_packed) return multiply_row<1, B>(task.a, {panel}, task.depth, {sums});
  for (std::int64_t k = 0; k < task.depth; k += kDepthBlock) {
    const std::int64_t depth = std::min(kDepthBlock, task.depth - k);
    const B* const part = panel + k * kPanelWidth;
    // After a panel lies the next, which mostly is the thread's next one, too.
    const B* const later = part + depth * kPanelWidth;
    const std::int64_t bytes = depth * kPanelWidth * static_cast<std::int64_t>(sizeof(B));
    if (sizeof(B) == sizeof(float) || task.tile.rows <= kBlockRows) {
      multiply_part(task, k, depth, part, later, bytes, sums);
    } else {
      widen(part, depth * kPanelWidth, widened);
      multiply_part<float>(task, k, depth, widened, later, bytes, sums);
    }
  }
}

/// The sums, and those of the gate's factor, if it has one.
template <class B>
void multiply(const LinearTask& task, float* widened, float* sums, float* factors) {
  const PackedMatrix &weight = *task.tile.weight, *const up = task.tile.up;
  const bool is_full = width_of(weight.outputs, task.tile.panel) == kPanelWidth;
  if (up != nullptr && !task.is_packed && is_full) {
    return multiply_row<2, B>(task.a, {panel_of<B>(task, weight), panel_of<B>(task, *up)},
                              task.depth, {sums, factors});
  }
  multiply_panel<B>(task, weight, widened, sums);
  if (up != nullptr) multiply_panel<B>(task, *up, widened, factors);
}

void run(const LinearTask& task) {
  float* const sums = task.scratch;
  float* const factors = sums + task.tile.rows * kPanelWidth;
  float* const widened = factors + task.tile.rows * kPanelWidth;
  if (task.depth == 0) std::fill_n(sums, 2 * task.tile.rows * kPanelWidth, 0.0F);
  switch (task.tile.weight->dtype) {
    case DType::kFloat32:
      multiply<float>(task, widened, sums, factors);
      break;
    case DType::kBFloat16:
      multiply<hwy::bfloat16_t>(task, widened, sums, factors);
      break;
    default:
      multiply<hwy::float16_t>(task, widened, sums, factors);
  }
  store_tile(task.tile, kPanelWidth, sums, factors);
}

}  // namespace

static_assert(kBlockRows <= kMostBlockRows);

constexpr LinearTable kTable = {.panel_width = kPanelWidth,
                                .lanes = kLanes,
                                .block_rows = kBlockRows,
                                .scratch_size = scratch_size,
                                .pack_panel = pack_panel,
                                .run = run};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(LinearTable);

/// Scratch memory of a call, in floats: the rows as tiles read them, then what threads have of
/// their own, while rows are packed and while tiles are computed.
struct FloatScratch {
  std::int64_t rows = 0, own = 0;

  FloatScratch(const LinearCall& call, const LinearTable& table) {
    const bool is_packed = call.rows != 1, has_norm = call.norm != nullptr;
    if (is_packed || has_norm) rows = is_packed ? round_up(call.rows, table.block_rows) : 1;
    rows = round_up(rows * call.depth, 16);
    own = table.scratch_size(std::min(call.rows, kTileRows));
    if (is_packed && has_norm) own = std::max(own, table.block_rows * call.depth);
    own = round_up(own, 16);
  }
};

/// x in blocks of rows, each with the elements of one k after those of the k before. `own`: of
/// threads, each with room for a block.
void pack_rows(const LinearCall& call, std::int64_t block_rows, float* to, float* own,
               std::int64_t own_size, Context& context) {
  const std::int64_t depth = call.depth, blocks = (call.rows + block_rows - 1) / block_rows;
  context.pool().for_each(blocks, [&](std::int64_t block, unsigned thread) {
    const std::int64_t first = block * block_rows;
    const std::int64_t count = std::min(block_rows, call.rows - first);
    float* const packed = to + first * depth;
    std::array<const float*, kMostBlockRows> from = {};
    for (std::int64_t row = 0; row < count; ++row) {
      from[static_cast<std::size_t>(row)] =
          row_of(call, first + row, own + own_size * thread + row * depth, context.isa());
    }
    constexpr std::int64_t kTile = 16;
    for (std::int64_t k = 0; k < depth; k += kTile) {
      const std::int64_t end = std::min(k + kTile, depth);
      for (std::int64_t row = 0; row < count; ++row) {
        const float* const x = from[static_cast<std::size_t>(row)];
        for (std::int64_t i = k; i < end; ++i) packed[i * block_rows + row] = x[i];
      }
    }
  });
}

}  // namespace

std::size_t packed_float_bytes(DType dtype, std::int64_t outputs, std::int64_t depth,
                               IsaLevel isa) {
  const std::int64_t elements = round_up(outputs, tables.at(isa).lanes) * depth;
  return static_cast<std::size_t>(round_up(elements * (dtype == DType::kFloat32 ? 4 : 2), 64));
}

void pack_floats(const std::byte* weight, const PackedMatrix& to, std::byte* at, Context& context) {
  const LinearTable& table = tables.at(context.isa());
  const std::int64_t panels = panels_of(to.outputs, table.panel_width);
  context.pool().for_each(panels, [&](std::int64_t panel, unsigned) {
    table.pack_panel(weight, to.dtype, to.outputs, to.depth, panel, at);
  });
}

void run_float_products(const LinearCall& call, Context& context) {
  const LinearTable& table = tables.at(context.isa());
  const bool is_packed = call.rows != 1;
  const FloatScratch sizes(call, table);
  float* const rows = context.scratch(sizes.rows + sizes.own * context.pool().threads()).data();
  float* const own = rows + sizes.rows;
  if (is_packed) pack_rows(call, table.block_rows, rows, own, sizes.own, context);
  const float* const x = is_packed ? rows : row_of(call, 0, rows, context.isa());
  for_each_tile(call, table.panel_width, 1, context.pool(),
                [&](const LinearTile& tile, unsigned thread) {
                  table.run({.tile = tile,
                             .a = x + tile.row * call.depth,
                             .is_packed = is_packed,
                             .depth = call.depth,
                             .scratch = own + sizes.own * thread});
                });
}

}  // namespace mir::fast

#endif  // HWY_ONCE

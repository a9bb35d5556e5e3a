#include "mir/kernels/fast/linear.hpp"

#include <algorithm>
#include <cstring>

#include "targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/linear.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "micro-inl.h"
#include "vector_math-inl.h"

#ifndef MIR_KERNELS_FAST_LINEAR_TYPES_
#define MIR_KERNELS_FAST_LINEAR_TYPES_

namespace mir::fast {

/// One block of rows of one product, or of a gate and its factor.
struct LinearTask {
  const float* a;  ///< blocks of kBlockRows rows, each k after k; or one row as it is
  bool is_packed;
  std::int64_t rows;
  std::int64_t depth;
  const PackedMatrix* weight;
  const PackedMatrix* up;  ///< null unless gated
  std::int64_t panel;
  float* out;  ///< of the first row
  std::int64_t out_stride;
  Epilogue epilogue;  ///< of the first row
  float* scratch;     ///< of this thread
};

struct LinearTable {
  std::int64_t panel_width;
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

template <class T>
void pack_panel_of(const std::byte* bytes, std::int64_t outputs, std::int64_t depth,
                   std::int64_t panel, std::byte* to) {
  constexpr std::int64_t kTile = 64 / static_cast<std::int64_t>(sizeof(T));
  const T* const weight = reinterpret_cast<const T*>(bytes);
  T* const packed = reinterpret_cast<T*>(to) + panel * kPanelWidth * depth;
  const std::int64_t first = panel * kPanelWidth;
  const std::int64_t columns = std::min(kPanelWidth, outputs - first);
  if (columns < kPanelWidth) {
    std::memset(packed, 0, static_cast<std::size_t>(kPanelWidth * depth) * sizeof(T));
  }
  // Tiles of one cache line of each weight row.
  for (std::int64_t k = 0; k < depth; k += kTile) {
    const std::int64_t end = std::min(k + kTile, depth);
    for (std::int64_t column = 0; column < columns; ++column) {
      const T* const row = weight + (first + column) * depth;
      for (std::int64_t i = k; i < end; ++i) packed[i * kPanelWidth + column] = row[i];
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

/// One row: every element of the panel is used once, so it streams from memory.
template <class B>
void multiply_row(const float* x, const B* panel, std::int64_t depth, float* sums) {
  for (std::int64_t k = 0; k < depth; k += kDepthBlock) {
    const Block<B> block = {.a = x + k,
                            .a_row = 0,
                            .a_step = 1,
                            .b = panel + k * kPanelWidth,
                            .b_step = kPanelWidth,
                            .depth = std::min(kDepthBlock, depth - k),
                            .c = sums,
                            .c_row = kPanelWidth,
                            .adds = k != 0};
    multiply_block<1, kPanelVectors, true>(block);
  }
}

/// Blocks of rows against a part of a panel that stays in the cache. The first block fetches it.
template <class B>
void multiply_part(const LinearTask& task, std::int64_t k, std::int64_t depth, const B* part,
                   float* sums) {
  for (std::int64_t row = 0; row < task.rows; row += kBlockRows) {
    const int rows = static_cast<int>(std::min<std::int64_t>(kBlockRows, task.rows - row));
    const Block<B> block = {.a = task.a + row * task.depth + k * kBlockRows,
                            .a_row = 1,
                            .a_step = kBlockRows,
                            .b = part,
                            .b_step = kPanelWidth,
                            .depth = depth,
                            .c = sums + row * kPanelWidth,
                            .c_row = kPanelWidth,
                            .adds = k != 0};
    if (row == 0) {
      multiply_rows<kPanelVectors, true>(rows, block);
    } else {
      multiply_rows<kPanelVectors, false>(rows, block);
    }
  }
}

template <class B>
void widen(const B* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    hn::StoreU(load_floats(from + i), Floats(), to + i);
  }
}

/// The sums of all rows of the task for its panel of `weight`.
template <class B>
void multiply_panel(const LinearTask& task, const PackedMatrix& weight, float* widened,
                    float* sums) {
  const B* const panel =
      reinterpret_cast<const B*>(weight.data) + task.panel * kPanelWidth * task.depth;
  if (!task.is_packed) return multiply_row(task.a, panel, task.depth, sums);
  for (std::int64_t k = 0; k < task.depth; k += kDepthBlock) {
    const std::int64_t depth = std::min(kDepthBlock, task.depth - k);
    const B* const part = panel + k * kPanelWidth;
    if constexpr (sizeof(B) == sizeof(float)) {
      multiply_part(task, k, depth, part, sums);
    } else {
      if (task.rows <= kBlockRows) {
        multiply_part(task, k, depth, part, sums);
        continue;
      }
      widen(part, depth * kPanelWidth, widened);
      multiply_part(task, k, depth, widened, sums);
    }
  }
}

void multiply(const LinearTask& task, const PackedMatrix& weight, float* widened, float* sums) {
  switch (weight.dtype) {
    case DType::kFloat32:
      return multiply_panel<float>(task, weight, widened, sums);
    case DType::kBFloat16:
      return multiply_panel<hwy::bfloat16_t>(task, weight, widened, sums);
    default:
      return multiply_panel<hwy::float16_t>(task, weight, widened, sums);
  }
}

/// Sums to outputs, a vector at a time. A last vector that is not full goes through `padded`.
template <bool kGated>
HWY_INLINE void store_row(const LinearTask& task, std::int64_t row, const float* sums,
                          const float* factors) {
  const Floats d;
  const std::int64_t first = task.panel * kPanelWidth;
  const std::int64_t columns = std::min(kPanelWidth, task.weight->outputs - first);
  float* const out = task.out + row * task.out_stride + first;
  const float* const bias = task.epilogue.bias == nullptr ? nullptr : task.epilogue.bias + first;
  const float* const residual =
      task.epilogue.residual == nullptr
          ? nullptr
          : task.epilogue.residual + row * task.epilogue.residual_stride + first;
  HWY_ALIGN float padded[kLanes] = {};
  const auto load = [&](const float* from, std::int64_t count) {
    if (count == kLanes) return hn::LoadU(d, from);
    std::copy_n(from, count, padded);
    return hn::Load(d, padded);
  };
  for (std::int64_t column = 0; column < columns; column += kLanes) {
    const std::int64_t count = std::min(kLanes, columns - column);
    FloatVector y = hn::LoadU(d, sums + column);
    if (bias != nullptr) y = hn::Add(y, load(bias + column, count));
    if constexpr (kGated) y = hn::Mul(silu(y), hn::LoadU(d, factors + column));
    if (residual != nullptr) y = hn::Add(y, load(residual + column, count));
    if (count == kLanes) {
      hn::StoreU(y, d, out + column);
    } else {
      hn::Store(y, d, padded);
      std::copy_n(padded, count, out + column);
    }
  }
}

void run(const LinearTask& task) {
  float* const sums = task.scratch;
  float* const factors = sums + task.rows * kPanelWidth;
  float* const widened = factors + task.rows * kPanelWidth;
  multiply(task, *task.weight, widened, sums);
  if (task.up != nullptr) multiply(task, *task.up, widened, factors);
  for (std::int64_t row = 0; row < task.rows; ++row) {
    if (task.up != nullptr) {
      store_row<true>(task, row, sums + row * kPanelWidth, factors + row * kPanelWidth);
    } else {
      store_row<false>(task, row, sums + row * kPanelWidth, nullptr);
    }
  }
}

}  // namespace

constexpr LinearTable kTable = {.panel_width = kPanelWidth,
                                .block_rows = kBlockRows,
                                .scratch_size = scratch_size,
                                .pack_panel = pack_panel,
                                .run = run};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(LinearTable);

/// Rows of one task: enough to read a panel seldom, few enough that shapes of a decoder give every
/// thread the same work.
constexpr std::int64_t kTaskRows = 32;

std::int64_t panels_of(std::int64_t outputs, const LinearTable& table) {
  return (outputs + table.panel_width - 1) / table.panel_width;
}

std::int64_t round_up(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

/// x in blocks of rows, each with the elements of one k after those of the k before.
void pack_rows(const float* x, std::int64_t x_stride, std::int64_t rows, std::int64_t depth,
               std::int64_t block_rows, float* to, ThreadPool& pool) {
  pool.for_each((rows + block_rows - 1) / block_rows, [&](std::int64_t block, unsigned) {
    const std::int64_t first = block * block_rows;
    const std::int64_t count = std::min(block_rows, rows - first);
    float* const packed = to + first * depth;
    constexpr std::int64_t kTile = 16;
    for (std::int64_t k = 0; k < depth; k += kTile) {
      const std::int64_t end = std::min(k + kTile, depth);
      for (std::int64_t row = 0; row < count; ++row) {
        const float* const from = x + (first + row) * x_stride;
        for (std::int64_t i = k; i < end; ++i) packed[i * block_rows + row] = from[i];
      }
    }
  });
}

/// Shared by all entry points: `ups` is null or has one matrix for each target.
void run_all(const float* x, std::int64_t x_stride, std::int64_t rows, std::int64_t depth,
             std::span<const LinearTarget> targets, const PackedMatrix* up, Context& context) {
  if (rows == 0) return;
  const LinearTable& table = tables.at(context.isa());
  const std::int64_t row_blocks = (rows + kTaskRows - 1) / kTaskRows;
  std::int64_t panels = 0;
  for (const LinearTarget& target : targets) panels += panels_of(target.weight->outputs, table);
  const std::int64_t packed_size =
      rows == 1 ? 0 : round_up(round_up(rows, table.block_rows) * depth, 16);
  const std::int64_t own_size = round_up(table.scratch_size(std::min(rows, kTaskRows)), 16);
  float* const scratch =
      context.scratch(static_cast<std::size_t>(packed_size + own_size * context.pool().threads()))
          .data();
  if (rows != 1) {
    pack_rows(x, x_stride, rows, depth, table.block_rows, scratch, context.pool());
  }
  context.pool().for_each(panels * row_blocks, [&](std::int64_t task, unsigned thread) {
    std::int64_t panel = task / row_blocks;
    const LinearTarget* target = targets.data();
    while (panel >= panels_of(target->weight->outputs, table)) {
      panel -= panels_of(target->weight->outputs, table);
      ++target;
    }
    const std::int64_t row = task % row_blocks * kTaskRows;
    Epilogue epilogue = target->epilogue;
    if (epilogue.residual != nullptr) epilogue.residual += row * epilogue.residual_stride;
    table.run({.a = rows == 1 ? x : scratch + row * depth,
               .is_packed = rows != 1,
               .rows = std::min(kTaskRows, rows - row),
               .depth = depth,
               .weight = target->weight,
               .up = up,
               .panel = panel,
               .out = target->out + row * target->out_stride,
               .out_stride = target->out_stride,
               .epilogue = epilogue,
               .scratch = scratch + packed_size + own_size * thread});
  });
}

}  // namespace

bool is_packable(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kBFloat16 || dtype == DType::kFloat16;
}

std::size_t packed_bytes(DType dtype, std::int64_t outputs, std::int64_t depth, IsaLevel isa) {
  const LinearTable& table = tables.at(isa);
  const std::int64_t elements = panels_of(outputs, table) * table.panel_width * depth;
  return static_cast<std::size_t>(round_up(elements * (dtype == DType::kFloat32 ? 4 : 2), 64));
}

PackedMatrix pack(const std::byte* weight, DType dtype, std::int64_t outputs, std::int64_t depth,
                  std::span<std::byte> to, Context& context) {
  const LinearTable& table = tables.at(context.isa());
  context.pool().for_each(panels_of(outputs, table), [&](std::int64_t panel, unsigned) {
    table.pack_panel(weight, dtype, outputs, depth, panel, to.data());
  });
  return {.data = to.data(), .dtype = dtype, .outputs = outputs, .depth = depth};
}

void linear(const PackedMatrix& weight, const LinearOperands& operands, Context& context) {
  const LinearTarget target = {&weight, operands.out, operands.out_stride, operands.epilogue};
  run_all(operands.x, operands.x_stride, operands.rows, weight.depth, {&target, 1}, nullptr,
          context);
}

void linear_group(const float* x, std::int64_t x_stride, std::int64_t rows,
                  std::span<const LinearTarget> targets, Context& context) {
  if (targets.empty()) return;
  run_all(x, x_stride, rows, targets.front().weight->depth, targets, nullptr, context);
}

void linear_gated(const PackedMatrix& gate, const PackedMatrix& up, const LinearOperands& operands,
                  Context& context) {
  const LinearTarget target = {&gate, operands.out, operands.out_stride, operands.epilogue};
  run_all(operands.x, operands.x_stride, operands.rows, gate.depth, {&target, 1}, &up, context);
}

}  // namespace mir::fast

#endif  // HWY_ONCE

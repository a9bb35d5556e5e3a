#include "mir/kernels/fast/product.hpp"

#include <algorithm>
#include <cstring>

#include "targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/product.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "micro-inl.h"

#ifndef MIR_KERNELS_FAST_PRODUCT_TYPES_
#define MIR_KERNELS_FAST_PRODUCT_TYPES_

namespace mir::fast {

/// Columns of the right-hand matrix, gathered into panels. Called by several threads.
class ColumnSource {
 public:
  virtual ~ColumnSource() = default;
  /// Elements (k + i, column + j) for i < depth, j < count to to[i width + j].
  virtual void gather(std::int64_t k, std::int64_t depth, std::int64_t column, std::int64_t count,
                      std::int64_t width, float* to) const = 0;
};

/// Some rows of a product, one panel of its columns.
struct ProductTask {
  const float* a;
  std::int64_t a_row, a_step;
  std::int64_t rows, depth;
  const ColumnSource* source;
  std::int64_t column, columns;  ///< first and number of the panel's
  const float* bias;             ///< of the first row; null: none
  float* out;
  std::int64_t out_row;
  float* scratch;  ///< of this thread
};

struct ProductTable {
  std::int64_t panel_width;
  std::int64_t (*scratch_size)(std::int64_t rows);
  void (*run)(const ProductTask& task);
};

}  // namespace mir::fast

#endif  // once

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

/// Scratch of a task: a block of the panel, sums.
std::int64_t scratch_size(std::int64_t rows) {
  return kDepthBlock * kPanelWidth + rows * kPanelWidth;
}

void run(const ProductTask& task) {
  float* const panel = task.scratch;
  float* const sums = panel + kDepthBlock * kPanelWidth;
  if (task.depth == 0) std::fill_n(sums, task.rows * kPanelWidth, 0.0F);
  if (task.columns < kPanelWidth) std::fill_n(panel, kDepthBlock * kPanelWidth, 0.0F);
  for (std::int64_t k = 0; k < task.depth; k += kDepthBlock) {
    const std::int64_t depth = std::min(kDepthBlock, task.depth - k);
    task.source->gather(k, depth, task.column, task.columns, kPanelWidth, panel);
    for (std::int64_t row = 0; row < task.rows; row += kBlockRows) {
      const int rows = static_cast<int>(std::min<std::int64_t>(kBlockRows, task.rows - row));
      const Block<float> block = {.a = task.a + row * task.a_row + k * task.a_step,
                                  .a_row = task.a_row,
                                  .a_step = task.a_step,
                                  .b = panel,
                                  .b_step = kPanelWidth,
                                  .depth = depth,
                                  .c = sums + row * kPanelWidth,
                                  .c_row = kPanelWidth,
                                  .adds = k != 0};
      multiply_rows<kPanelVectors, Fetch::kNothing>(rows, block);
    }
  }
  for (std::int64_t row = 0; row < task.rows; ++row) {
    float* const from = sums + row * kPanelWidth;
    if (task.bias != nullptr) {
      const FloatVector bias = hn::Set(Floats(), task.bias[row]);
      for (std::int64_t i = 0; i < kPanelWidth; i += kLanes) {
        hn::StoreU(hn::Add(hn::LoadU(Floats(), from + i), bias), Floats(), from + i);
      }
    }
    std::copy_n(from, task.columns, task.out + row * task.out_row);
  }
}

}  // namespace

constexpr ProductTable kTable = {
    .panel_width = kPanelWidth, .scratch_size = scratch_size, .run = run};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "chunks.hpp"
#include "target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(ProductTable);

/// Rows of one task: so many that gathering a panel costs little beside using it, and that the sums
/// stay in the second-level cache.
constexpr std::int64_t kTaskRows = 384;
constexpr std::int64_t kUnitRows = 8;  // a multiple of every target's block

/// How one product is cut.
struct Tasks {
  const ProductTable& table;
  Chunks rows;
  std::int64_t columns;
  std::int64_t panels;
  std::int64_t scratch;

  Tasks(const ProductTable& of, std::int64_t rows_, std::int64_t columns_)
      : table(of),
        rows(cut(rows_, kTaskRows, kUnitRows)),
        columns(columns_),
        panels((columns_ + of.panel_width - 1) / of.panel_width),
        scratch((of.scratch_size(rows.size) + 15) / 16 * 16) {}

  std::int64_t count() const { return rows.count * panels; }
  /// The rows and columns of a task of a product whose first elements `product` has.
  ProductTask at(std::int64_t number, ProductTask product) const {
    const std::int64_t chunk = number % rows.count;
    const std::int64_t row = rows.first(chunk);
    product.rows = rows.length(chunk);
    product.column = number / rows.count * table.panel_width;
    product.columns = std::min(table.panel_width, columns - product.column);
    product.a += row * product.a_row;
    if (product.bias != nullptr) product.bias += row;
    product.out += row * product.out_row + product.column;
    return product;
  }
};

class StridedColumns final : public ColumnSource {
 public:
  StridedColumns(const float* b, std::int64_t step, std::int64_t column_stride)
      : b_(b), step_(step), column_stride_(column_stride) {}

  void gather(std::int64_t k, std::int64_t depth, std::int64_t column, std::int64_t count,
              std::int64_t width, float* to) const override {
    const float* const from = b_ + k * step_ + column * column_stride_;
    if (column_stride_ == 1) {
      for (std::int64_t i = 0; i < depth; ++i) {
        std::memcpy(to + i * width, from + i * step_,
                    static_cast<std::size_t>(count) * sizeof(float));
      }
      return;
    }
    // Tiles of one cache line of each column.
    constexpr std::int64_t kTile = 16;
    for (std::int64_t first = 0; first < depth; first += kTile) {
      const std::int64_t end = std::min(first + kTile, depth);
      for (std::int64_t j = 0; j < count; ++j) {
        const float* const source = from + j * column_stride_;
        for (std::int64_t i = first; i < end; ++i) to[i * width + j] = source[i * step_];
      }
    }
  }

 private:
  const float* b_;
  std::int64_t step_;
  std::int64_t column_stride_;
};

/// Taps of one group of one image: row k is a channel and a place of the kernel, column j a place
/// of the output, both in row-major order.
class Taps final : public ColumnSource {
 public:
  Taps(const ConvOperands& operands, const float* x) : o_(operands), x_(x) {}

  void gather(std::int64_t k, std::int64_t depth, std::int64_t column, std::int64_t count,
              std::int64_t width, float* to) const override {
    for (std::int64_t i = 0; i < depth; ++i) gather_row(k + i, column, count, to + i * width);
  }

 private:
  void gather_row(std::int64_t k, std::int64_t column, std::int64_t count, float* to) const {
    const auto& [taps_z, taps_y, taps_x] = o_.kernel;
    const std::int64_t kx = k % taps_x, ky = k / taps_x % taps_y;
    const std::int64_t kz = k / taps_x / taps_y % taps_z;
    const std::int64_t channel = k / taps_x / taps_y / taps_z;
    const float* const image = x_ + channel * o_.x_extents[0] * o_.x_extents[1] * o_.x_extents[2];
    while (count > 0) {
      // One line of the output at a time.
      const std::int64_t place = column % o_.out_extents[2];
      const std::int64_t length = std::min(count, o_.out_extents[2] - place);
      const std::int64_t line = column / o_.out_extents[2];
      const std::int64_t y = at(1, line % o_.out_extents[1], ky);
      const std::int64_t z = at(0, line / o_.out_extents[1], kz);
      const bool inside = y >= 0 && y < o_.x_extents[1] && z >= 0 && z < o_.x_extents[0];
      if (inside) {
        gather_line(image + (z * o_.x_extents[1] + y) * o_.x_extents[2], at(2, place, kx), length,
                    to);
      } else {
        std::fill_n(to, length, 0.0F);
      }
      to += length;
      column += length;
      count -= length;
    }
  }

  std::int64_t at(std::size_t dim, std::int64_t place, std::int64_t tap) const {
    return place * o_.stride[dim] + tap * o_.dilation[dim] - o_.padding[dim];
  }

  /// Elements first, first + stride, .. of a line; zeros beyond its ends.
  void gather_line(const float* line, std::int64_t first, std::int64_t length, float* to) const {
    const std::int64_t stride = o_.stride[2], extent = o_.x_extents[2];
    std::int64_t begin = first >= 0 ? 0 : (-first + stride - 1) / stride;
    begin = std::min(begin, length);
    std::int64_t end = first >= extent ? 0 : (extent - 1 - first) / stride + 1;
    end = std::clamp(end, begin, length);
    std::fill(to, to + begin, 0.0F);
    if (stride == 1) {
      std::copy(line + first + begin, line + first + end, to + begin);
    } else {
      for (std::int64_t i = begin; i < end; ++i) to[i] = line[first + i * stride];
    }
    std::fill(to + end, to + length, 0.0F);
  }

  const ConvOperands& o_;
  const float* x_;
};

}  // namespace

void matmul(const MatMulOperands& operands, Context& context) {
  const MatMulOperands& o = operands;
  std::int64_t products = 1;
  for (std::size_t i = 0; i < o.batch_rank; ++i) products *= o.batches[i];
  if (products == 0 || o.rows == 0 || o.columns == 0) return;
  const Tasks tasks(tables.at(context.isa()), o.rows, o.columns);
  float* const scratch =
      context.scratch(static_cast<std::size_t>(tasks.scratch) * context.pool().threads()).data();
  context.pool().for_each(products * tasks.count(), [&](std::int64_t task, unsigned thread) {
    const float *a = o.a, *b = o.b;
    float* out = o.out;
    std::int64_t product = task / tasks.count();
    for (std::size_t i = o.batch_rank; i-- > 0;) {
      const std::int64_t index = product % o.batches[i];
      product /= o.batches[i];
      a += index * o.a_strides[i];
      b += index / o.b_repeats[i] * o.b_strides[i];
      out += index * o.out_strides[i];
    }
    const StridedColumns source(b, o.b_step, o.b_column);
    tasks.table.run(tasks.at(task % tasks.count(), {.a = a,
                                                    .a_row = o.a_row,
                                                    .a_step = o.a_step,
                                                    .rows = 0,
                                                    .depth = o.depth,
                                                    .source = &source,
                                                    .column = 0,
                                                    .columns = 0,
                                                    .bias = nullptr,
                                                    .out = out,
                                                    .out_row = o.out_row,
                                                    .scratch = scratch + tasks.scratch * thread}));
  });
}

void conv(const ConvOperands& operands, Context& context) {
  const ConvOperands& o = operands;
  const auto product = [](const ConvOperands::Spatial& s) { return s[0] * s[1] * s[2]; };
  const std::int64_t places = product(o.out_extents), depth = o.inputs * product(o.kernel);
  const std::int64_t images = o.batches * o.groups;
  if (images == 0 || places == 0 || o.outputs == 0) return;
  const Tasks tasks(tables.at(context.isa()), o.outputs, places);
  float* const scratch =
      context.scratch(static_cast<std::size_t>(tasks.scratch) * context.pool().threads()).data();
  context.pool().for_each(images * tasks.count(), [&](std::int64_t task, unsigned thread) {
    const std::int64_t image = task / tasks.count(), group = image % o.groups;
    const Taps source(o, o.x + image * o.inputs * product(o.x_extents));
    tasks.table.run(tasks.at(task % tasks.count(),
                             {.a = o.weight + group * o.outputs * depth,
                              .a_row = depth,
                              .a_step = 1,
                              .rows = 0,
                              .depth = depth,
                              .source = &source,
                              .column = 0,
                              .columns = 0,
                              .bias = o.bias == nullptr ? nullptr : o.bias + group * o.outputs,
                              .out = o.out + image * o.outputs * places,
                              .out_row = places,
                              .scratch = scratch + tasks.scratch * thread}));
  });
}

}  // namespace mir::fast

#endif  // HWY_ONCE

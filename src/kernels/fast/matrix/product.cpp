// MatMul and convolution: gathers panels of the right-hand matrix and multiplies them in tiles.
#include "kernels/fast/matrix/product.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/fast/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/matrix/product.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/micro-inl.h"
#include "kernels/fast/vector_math-inl.h"

#ifndef MIR_KERNELS_FAST_PRODUCT_TYPES_
#define MIR_KERNELS_FAST_PRODUCT_TYPES_

namespace mir::fast {

/// Largest panel width of any target.
inline constexpr std::int64_t kMostPanelWidth = 48;

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
  std::int64_t lanes;
  std::int64_t panel_vectors;
  std::int64_t (*scratch_size)(std::int64_t rows);
  void (*run)(const ProductTask& task);
};

}  // namespace mir::fast

#endif  // once

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

static_assert(kPanelWidth <= kMostPanelWidth);

/// Scratch of a task: a block of the panel, sums.
std::int64_t scratch_size(std::int64_t rows) {
  return kDepthBlock * kPanelWidth + rows * kPanelWidth;
}

/// Blocks of rows against a part of a panel of kVectors vectors, from element k of the depth on.
template <int kVectors>
HWY_NOINLINE void multiply_part(const ProductTask& task, std::int64_t k, std::int64_t depth,
                                const float* panel, float* sums) {
  constexpr std::int64_t kWidth = kVectors * kLanes;
  for (std::int64_t row = 0; row < task.rows; row += kRowsOfBlock<kVectors>) {
    const std::int64_t rows = std::min<std::int64_t>(kRowsOfBlock<kVectors>, task.rows - row);
    const Block<float> block = {.a = task.a + row * task.a_row + k * task.a_step,
                                .a_row = task.a_row,
                                .a_step = task.a_step,
                                .b = panel,
                                .b_step = kWidth,
                                .depth = depth,
                                .c = sums + row * kWidth,
                                .c_row = kWidth,
                                .adds = k != 0};
    multiply_rows<kVectors, Fetch::kNothing>(static_cast<int>(rows), block);
  }
}

void run(const ProductTask& task) {
  float* const panel = task.scratch;
  float* const sums = panel + kDepthBlock * kPanelWidth;
  const std::int64_t vectors = (task.columns + kLanes - 1) / kLanes, width = vectors * kLanes;
  if (task.depth == 0) std::fill_n(sums, task.rows * width, 0.0F);
  if (task.columns < width) std::fill_n(panel, kDepthBlock * width, 0.0F);
  const auto multiply = vectors == 3   ? multiply_part<3>
                        : vectors == 2 ? multiply_part<2>
                                       : multiply_part<1>;
  for (std::int64_t k = 0; k < task.depth; k += kDepthBlock) {
    const std::int64_t depth = std::min(kDepthBlock, task.depth - k);
    task.source->gather(k, depth, task.column, task.columns, width, panel);
    multiply(task, k, depth, panel, sums);
  }
  for (std::int64_t row = 0; row < task.rows; ++row) {
    const float* const from = sums + row * width;
    float* const to = task.out + row * task.out_row;
    // Adding -0 changes no bit of a number.
    const FloatVector bias = hn::Set(Floats(), task.bias == nullptr ? -0.0F : task.bias[row]);
    for (std::int64_t i = 0; i < task.columns; i += kLanes) {
      store_results(hn::Add(hn::LoadU(Floats(), from + i), bias), to + i,
                    std::min(kLanes, task.columns - i));
    }
  }
}

}  // namespace

constexpr ProductTable kTable = {
    .lanes = kLanes, .panel_vectors = kPanelVectors, .scratch_size = scratch_size, .run = run};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/fast/chunks.hpp"
#include "kernels/fast/matrix/conv_edges.hpp"
#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(ProductTable);

/// Rows of one task at most: a panel is gathered for as many as leave their sums in the
/// second-level cache, fewer where threads would have nothing to do. No sum depends on that.
constexpr std::int64_t kTaskRows = 1536;
constexpr std::int64_t kLeastTaskRows = 64;
constexpr std::int64_t kUnitRows = 24;  // a multiple of the blocks of every target and panel

/// Division of one product into tasks.
struct Tasks {
  const ProductTable& table;
  Chunks rows = {};
  std::int64_t columns;
  std::int64_t panels;
  std::int64_t narrow;  ///< so many panels at the end have one vector less
  std::int64_t scratch = 0;

  Tasks(const ProductTable& of, std::int64_t products, std::int64_t rows_, std::int64_t columns_,
        unsigned threads)
      : table(of),
        columns(columns_),
        panels(parts(columns_, of.lanes * of.panel_vectors)),
        narrow(panels * of.panel_vectors - parts(columns_, of.lanes)) {
    std::int64_t most = kTaskRows;
    do {
      rows = cut(rows_, most, kUnitRows);
      most /= 2;
    } while (products * count() < 8 * threads && most >= kLeastTaskRows);
    scratch = (of.scratch_size(rows.size) + 15) / 16 * 16;
  }

  static std::int64_t parts(std::int64_t count, std::int64_t size) {
    return (count + size - 1) / size;
  }
  std::int64_t count() const { return rows.count * panels; }
  /// The first column of a panel. Panels differ by a vector, so that none has few columns alone.
  std::int64_t first_column(std::int64_t panel) const {
    const std::int64_t before =
        std::max<std::int64_t>(panel - std::max<std::int64_t>(panels - narrow, 0), 0);
    return std::min((panel * table.panel_vectors - before) * table.lanes, columns);
  }
  /// The rows and columns of a task of a product whose first elements `product` has.
  ProductTask at(std::int64_t number, ProductTask product) const {
    const std::int64_t chunk = number % rows.count;
    const std::int64_t row = rows.first(chunk);
    product.rows = rows.length(chunk);
    const std::int64_t panel = number / rows.count;
    product.column = first_column(panel);
    product.columns = first_column(panel + 1) - product.column;
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
    Pieces pieces;
    const std::size_t lines = cut_lines(column, count, pieces);
    Tap tap = tap_of(k);
    for (std::int64_t i = 0; i < depth; ++i, step(tap)) {
      for (std::size_t line = 0; line < lines; ++line) {
        gather_piece(tap, pieces[line], to + i * width + pieces[line].column);
      }
    }
  }

 private:
  /// Neighbouring columns of one line of the output, and what the kernel's first tap reads there.
  struct Piece {
    std::int64_t column, length;
    std::int64_t z, y, x;
  };
  using Pieces = std::array<Piece, static_cast<std::size_t>(kMostPanelWidth)>;
  /// A row: a channel, and a place of the kernel counted in elements of the image.
  struct Tap {
    const float* image;
    std::array<std::int64_t, ConvOperands::kSpatial> place;
    std::array<std::int64_t, ConvOperands::kSpatial> offset;
  };

  std::int64_t image_size() const { return o_.x_extents[0] * o_.x_extents[1] * o_.x_extents[2]; }

  std::size_t cut_lines(std::int64_t column, std::int64_t count, Pieces& pieces) const {
    std::size_t lines = 0;
    for (std::int64_t done = 0; done < count; ++lines) {
      const std::int64_t line = (column + done) / o_.out_extents[2];
      const std::int64_t place = (column + done) % o_.out_extents[2];
      const std::int64_t length = std::min(count - done, o_.out_extents[2] - place);
      pieces[lines] = {.column = done,
                       .length = length,
                       .z = line / o_.out_extents[1] * o_.stride[0] - o_.padding[0],
                       .y = line % o_.out_extents[1] * o_.stride[1] - o_.padding[1],
                       .x = place * o_.stride[2] - o_.padding[2]};
      done += length;
    }
    return lines;
  }

  Tap tap_of(std::int64_t k) const {
    Tap tap = {};
    for (std::size_t dim = ConvOperands::kSpatial; dim-- > 0; k /= o_.kernel[dim]) {
      tap.place[dim] = k % o_.kernel[dim];
      tap.offset[dim] = tap.place[dim] * o_.dilation[dim];
    }
    tap.image = x_ + k * image_size();
    return tap;
  }

  /// To the next row.
  void step(Tap& tap) const {
    for (std::size_t dim = ConvOperands::kSpatial; dim-- > 0;) {
      tap.offset[dim] += o_.dilation[dim];
      if (++tap.place[dim] < o_.kernel[dim]) return;
      tap.place[dim] = tap.offset[dim] = 0;
    }
    tap.image += image_size();
  }

  void gather_piece(const Tap& tap, const Piece& piece, float* to) const {
    const std::int64_t z = piece.z + tap.offset[0], y = piece.y + tap.offset[1];
    const std::int64_t x = piece.x + tap.offset[2], stride = o_.stride[2];
    if (y < 0 || y >= o_.x_extents[1] || z < 0 || z >= o_.x_extents[0]) {
      std::fill_n(to, piece.length, 0.0F);
      return;
    }
    const float* const line = tap.image + (z * o_.x_extents[1] + y) * o_.x_extents[2];
    if (x < 0 || x + (piece.length - 1) * stride >= o_.x_extents[2]) {
      gather_line(line, x, piece.length, to);
    } else if (stride == 1) {
      for (std::int64_t i = 0; i < piece.length; ++i) to[i] = line[x + i];
    } else {
      for (std::int64_t i = 0; i < piece.length; ++i) to[i] = line[x + i * stride];
    }
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
  const Tasks tasks(tables.at(context.isa()), products, o.rows, o.columns,
                    context.pool().threads());
  float* const scratch = context.scratch(tasks.scratch * context.pool().threads()).data();
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
  const Tasks tasks(tables.at(context.isa()), images, o.outputs, places, context.pool().threads());
  float* const scratch = context.scratch(tasks.scratch * context.pool().threads()).data();
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
  if (o.weight_is_finite || o.padding == ConvOperands::Spatial{}) return;
  const std::int64_t channels = o.groups * o.outputs;
  context.pool().for_each(o.batches * channels, [&](std::int64_t task, unsigned) {
    sum_edges(o, task / channels, task % channels);
  });
}

}  // namespace mir::fast

#endif  // HWY_ONCE

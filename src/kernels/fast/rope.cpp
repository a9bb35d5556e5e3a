// Vectorised rotary position embedding by tables of sines and cosines, in both forms.
#include "kernels/fast/rope.hpp"

#include <algorithm>

#include "kernels/fast/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/rope.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/micro-inl.h"
#include "kernels/fast/vector_math-inl.h"

#ifndef MIR_KERNELS_FAST_ROPE_TYPES_
#define MIR_KERNELS_FAST_ROPE_TYPES_

namespace mir::fast {

struct RopeTable {
  /// x[i], x[i + half] for i < half, by the row of the tables.
  void (*rotate)(const float* x, const float* sin, const float* cos, float* out, std::int64_t half);
  /// Copies the elements that are not rotated.
  void (*keep)(const float* x, float* out, std::int64_t count);
  /// One row of 2 * half elements, with rows of the tables that are as wide.
  void (*rotate_half)(const float* x, const float* cos, const float* sin, float* out,
                      std::int64_t half);
};

}  // namespace mir::fast

#endif  // once

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

HWY_INLINE void rotate_vector(const float* x, const float* sin, const float* cos, float* out,
                              std::int64_t half, std::int64_t count) {
  const FloatVector low = load_first(x, count);
  const FloatVector high = load_first(x + half, count);
  const FloatVector s = load_first(sin, count);
  const FloatVector c = load_first(cos, count);
  store_results(hn::Sub(hn::Mul(low, c), hn::Mul(high, s)), out, count);
  store_results(hn::Add(hn::Mul(low, s), hn::Mul(high, c)), out + half, count);
}

void rotate(const float* x, const float* sin, const float* cos, float* out, std::int64_t half) {
  const std::int64_t whole = half - half % kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    rotate_vector(x + i, sin + i, cos + i, out + i, half, kLanes);
  }
  if (whole == half) return;
  rotate_vector(x + whole, sin + whole, cos + whole, out + whole, half, half - whole);
}

void keep(const float* x, float* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const std::int64_t n = std::min(kLanes, count - i);
    store_results(load_first(x + i, n), out + i, n);
  }
}

HWY_INLINE void rotate_some(const float* x, const float* cos, const float* sin, float* out,
                            std::int64_t half, std::int64_t count) {
  const FloatVector low = load_first(x, count);
  const FloatVector high = load_first(x + half, count);
  const FloatVector first =
      hn::Add(hn::Mul(low, load_first(cos, count)), hn::Mul(hn::Neg(high), load_first(sin, count)));
  const FloatVector second = hn::Add(hn::Mul(high, load_first(cos + half, count)),
                                     hn::Mul(low, load_first(sin + half, count)));
  store_results(first, out, count);
  store_results(second, out + half, count);
}

void rotate_half(const float* x, const float* cos, const float* sin, float* out,
                 std::int64_t half) {
  const std::int64_t whole = half - half % kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    rotate_some(x + i, cos + i, sin + i, out + i, half, kLanes);
  }
  if (whole == half) return;
  rotate_some(x + whole, cos + whole, sin + whole, out + whole, half, half - whole);
}

}  // namespace

constexpr RopeTable kTable = {.rotate = rotate, .keep = keep, .rotate_half = rotate_half};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/fast/chunks.hpp"
#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(RopeTable);

}  // namespace

void rope(const RopeOperands& operands, Context& context) {
  const RopeOperands& o = operands;
  const RopeTable& table = tables.at(context.isa());
  const std::int64_t half = o.rotated / 2;
  const Chunks chunks =
      cut(o.batches * o.positions, kTaskElements / std::max<std::int64_t>(o.heads * o.width, 1));
  context.pool().for_each(chunks.count, [&](std::int64_t task, unsigned) {
    for (std::int64_t i = 0; i < chunks.length(task); ++i) {
      const std::int64_t b = (chunks.first(task) + i) / o.positions;
      const std::int64_t s = (chunks.first(task) + i) % o.positions;
      const std::int64_t row = b * o.table_batch_stride + s * o.table_stride;
      for (std::int64_t h = 0; h < o.heads; ++h) {
        const float* const x = o.x + b * o.x_strides[0] + h * o.x_strides[1] + s * o.x_strides[2];
        float* const out =
            o.out + b * o.out_strides[0] + h * o.out_strides[1] + s * o.out_strides[2];
        table.rotate(x, o.sin + row, o.cos + row, out, half);
        table.keep(x + o.rotated, out + o.rotated, o.width - o.rotated);
      }
    }
  });
}

void rotate_half(const RotateHalfOperands& operands, Context& context) {
  const RotateHalfOperands& o = operands;
  const RopeTable& table = tables.at(context.isa());
  std::int64_t rows = 1;
  for (std::size_t dim = 0; dim < o.rank; ++dim) rows *= o.extents[dim];
  const Chunks chunks = cut(rows, kTaskElements / std::max<std::int64_t>(o.width, 1));
  context.pool().for_each(chunks.count, [&](std::int64_t task, unsigned) {
    for (std::int64_t i = 0; i < chunks.length(task); ++i) {
      std::int64_t index = chunks.first(task) + i, x = 0, cos = 0, sin = 0, out = 0;
      for (std::size_t dim = o.rank; dim-- > 0;) {
        const std::int64_t at = index % o.extents[dim];
        index /= o.extents[dim];
        x += at * o.x_strides[dim];
        cos += at * o.cos_strides[dim];
        sin += at * o.sin_strides[dim];
        out += at * o.out_strides[dim];
      }
      table.rotate_half(o.x + x, o.cos + cos, o.sin + sin, o.out + out, o.width / 2);
    }
  });
}

}  // namespace mir::fast

#endif  // HWY_ONCE

// Vectorised x cos + [-x2, x1] sin, the form in which traced models write rotary embedding.
#include "kernels/fast/rotate_half.hpp"

#include "kernels/fast/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/rotate_half.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/micro-inl.h"
#include "kernels/fast/vector_math-inl.h"

#ifndef MIR_KERNELS_FAST_ROTATE_HALF_TYPES_
#define MIR_KERNELS_FAST_ROTATE_HALF_TYPES_

namespace mir::fast {

struct RotateHalfTable {
  /// One row of 2 * half elements.
  void (*rotate)(const float* x, const float* cos, const float* sin, float* out, std::int64_t half);
};

}  // namespace mir::fast

#endif  // once

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

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

void rotate_row(const float* x, const float* cos, const float* sin, float* out, std::int64_t half) {
  const std::int64_t whole = half - half % kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    rotate_some(x + i, cos + i, sin + i, out + i, half, kLanes);
  }
  if (whole == half) return;
  rotate_some(x + whole, cos + whole, sin + whole, out + whole, half, half - whole);
}

}  // namespace

constexpr RotateHalfTable kTable = {.rotate = rotate_row};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>

#include "kernels/fast/chunks.hpp"
#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(RotateHalfTable);

}  // namespace

void rotate_half(const RotateHalfOperands& operands, Context& context) {
  const RotateHalfOperands& o = operands;
  const RotateHalfTable& table = tables.at(context.isa());
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
      table.rotate(o.x + x, o.cos + cos, o.sin + sin, o.out + out, o.width / 2);
    }
  });
}

}  // namespace mir::fast

#endif  // HWY_ONCE

// Rotary position embedding on Float32: the op, and its form with products.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/fast/broadcast.hpp"
#include "kernels/fast/context.hpp"

namespace mir::fast {

/// x and out are [batches, heads, positions, width] in any order of memory with consecutive
/// elements of the last dimension; strides count elements.
struct RopeOperands {
  const float* x = nullptr;
  float* out = nullptr;
  std::int64_t batches = 0, heads = 0, positions = 0, width = 0;
  std::int64_t x_strides[3] = {};    ///< of batches, heads, positions
  std::int64_t out_strides[3] = {};  ///< likewise
  const float* sin = nullptr;        ///< row of (b, s) at b table_batch_stride + s table_stride
  const float* cos = nullptr;
  std::int64_t table_stride = 0;
  std::int64_t table_batch_stride = 0;  ///< 0: one table for all batches
  std::int64_t rotated = 0;             ///< leading elements that rotate; even, at most width
};

/// ref::rope; products and sums in float without fused multiply-add, so
///   |error| <= 1.5 2^-23 t (|x[d]| + |x[d + h]|)
/// for tables within [-t, t]. May run in place.
void rope(const RopeOperands& operands, Context& context);

/// Rows of an even width, with consecutive elements, of x, of both tables and of the result.
/// Strides count elements and are those of the dimensions before the last one; 0 where one row of a
/// table serves all.
struct RotateHalfOperands {
  using Strides = std::array<std::int64_t, BroadcastOperand::kMaxRank>;

  const float* x = nullptr;
  const float* cos = nullptr;
  const float* sin = nullptr;
  float* out = nullptr;
  std::size_t rank = 0;  ///< dimensions before the last one
  std::int64_t width = 0;
  Strides extents = {};
  Strides x_strides = {}, cos_strides = {}, sin_strides = {}, out_strides = {};
};

/// With h = width / 2, for i < h:
///   out[i] = x[i] cos[i] + (-x[i + h]) sin[i]
///   out[i + h] = x[i + h] cos[i + h] + x[i] sin[i + h]
/// Each product and sum is rounded to float, so the bits are those of the ops one by one. `out` may
/// be x.
void rotate_half(const RotateHalfOperands& operands, Context& context);

}  // namespace mir::fast

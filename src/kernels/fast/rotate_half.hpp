// Rotary position embedding written with products, on Float32: x cos + [-x2, x1] sin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/fast/broadcast.hpp"
#include "kernels/fast/context.hpp"

namespace mir::fast {

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

// Rotary position embedding on Float32.
#pragma once

#include <cstdint>

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

}  // namespace mir::fast

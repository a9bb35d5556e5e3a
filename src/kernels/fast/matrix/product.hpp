// Products of two matrices that are both computed in the run, and convolutions: nothing is packed
// beforehand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/fast/context.hpp"

namespace mir::fast {

/// out[.., m, n] = sum_k a[.., m, k] b[.., k, n]. Strides count elements; columns of out are
/// neighbours. Batch dimensions are the same for all three; a stride of 0 shares a matrix.
struct MatMulOperands {
  static constexpr std::size_t kMaxBatchRank = 6;

  const float* a = nullptr;
  const float* b = nullptr;
  float* out = nullptr;
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  std::int64_t a_row = 0, a_step = 1;     ///< of m and of k
  std::int64_t b_step = 0, b_column = 1;  ///< of k and of n
  std::int64_t out_row = 0;
  std::size_t batch_rank = 0;
  std::array<std::int64_t, kMaxBatchRank> batches = {};
  /// Batch index i of a dimension reads matrix i / b_repeats of b (grouped heads).
  std::array<std::int64_t, kMaxBatchRank> b_repeats = {1, 1, 1, 1, 1, 1};
  std::array<std::int64_t, kMaxBatchRank> a_strides = {}, b_strides = {}, out_strides = {};
};

/// Float32, summed as `linear` sums (mir/kernels/fast/linear.hpp), with its bound:
///   |error| <= (256 + K / 256) 2^-24 sum_k |a_k b_k|.
/// An element's bits depend on its own row and column alone. out overlaps no operand.
void matmul(const MatMulOperands& operands, Context& context);

/// Three spatial dimensions; those that are missing have extent and kernel 1, the outer ones first.
struct ConvOperands {
  static constexpr std::size_t kSpatial = 3;
  using Spatial = std::array<std::int64_t, kSpatial>;

  const float* x = nullptr;       ///< [batches, groups inputs, x_extents..]
  const float* weight = nullptr;  ///< [groups outputs, inputs, kernel..]
  const float* bias = nullptr;    ///< [groups outputs], or null
  float* out = nullptr;           ///< [batches, groups outputs, out_extents..]
  std::int64_t batches = 0;
  std::int64_t groups = 1;
  std::int64_t inputs = 0;   ///< channels of a group
  std::int64_t outputs = 0;  ///< channels of a group
  Spatial x_extents = {1, 1, 1};
  Spatial kernel = {1, 1, 1};
  Spatial out_extents = {1, 1, 1};
  Spatial stride = {1, 1, 1};
  Spatial padding = {0, 0, 0};
  Spatial dilation = {1, 1, 1};
  /// Nothing among the weights is an infinity or NaN: edges need no second look.
  bool weight_is_finite = false;
};

/// As mir/kernels/ref/convolution.hpp defines it, all in row-major order: a product of the
/// weight with a matrix of taps that is gathered a panel at a time. Taps beyond the edges are zeros
/// in it; where weights are not finite, sum_edges() leaves them out afterwards. The same bound with
/// K = inputs times the kernel's extents, then the bias is added.
void conv(const ConvOperands& operands, Context& context);

}  // namespace mir::fast

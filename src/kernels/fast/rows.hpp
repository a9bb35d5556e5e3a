// Kernels over the rows of a matrix: normalisations, softmax, the causal mask. Float32.
//
// A row is `width` consecutive elements; rows lie `x_stride` and `out_stride` elements apart. May
// run in place. Rows are independent: a row's bits do not depend on how many rows there are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/fast/context.hpp"

namespace mir::fast {

struct Rows {
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  float* out = nullptr;
  std::int64_t out_stride = 0;
  std::int64_t rows = 0;
  std::int64_t width = 0;
};

/// If `weight` is null, w is 1 and the offset is not added.
struct RmsNorm {
  const float* weight = nullptr;  ///< [width]
  float epsilon = 0;
  bool add_unit_offset = false;  ///< w = weight + 1
};

/// Bound of the relative error of an element of rms_norm.
inline constexpr double kRmsNormError = 20 * 0x1p-24;

/// out = x w / sqrt(mean(x^2) + epsilon), within kRmsNormError. Squares may exceed the range of
/// Float32. Infinities and NaN as ref::rms_norm.
void rms_norm(const Rows& rows, const RmsNorm& norm, Context& context);
/// One row of `width` elements, with the bits of rms_norm.
void rms_norm_row(const float* x, float* out, std::int64_t width, const RmsNorm& norm,
                  IsaLevel isa);

/// out = (x - mean) / sqrt(var + epsilon) weight + bias; var biased, of the centred values. Null
/// weight: 1; null bias: 0. With z = (x - mean) / sqrt(var + epsilon)
///   |error| <= 2^-24 (|weight| (32 + 24 |z|) + |out|).
/// A mean far larger than the deviations costs nothing; squares may exceed the range of Float32.
void layer_norm(const Rows& rows, const float* weight, const float* bias, float epsilon,
                Context& context);

/// out_i = e^(x_i - m) / sum_j e^(x_j - m), m = max_j x_j. Edge cases as ref::softmax.
///   |error| <= 2^-24 (m - x_i + 48) out_i + 2^-125 for rows of at most 2^22 elements.
void softmax(const Rows& rows, Context& context);

/// Number that CausalMask writes over Float32 scores.
inline constexpr float kMaskedScore = -1e10F;

/// Positions of queries of a batch of sequences, in row-major order. Empty: they follow from the
/// extents.
struct QueryPositions {
  std::span<const std::int64_t> positions = {};  ///< [sequences, queries]
  std::int64_t rows = 1;                         ///< rows of one sequence
};

/// Row r is query r % queries of a matrix [.., queries, width] and is at the position of key
/// r % queries + width - queries; keys after it, and those that `window` leaves out, become
/// kMaskedScore. One query keeps all keys before it; the caller leaves the window out where it
/// does not apply to one. A stated position that is negative is 0.
void causal_mask(const Rows& rows, std::int64_t queries, std::optional<std::int64_t> window,
                 Context& context, const QueryPositions& stated = {});

}  // namespace mir::fast

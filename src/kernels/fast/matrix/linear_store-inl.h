// The end of a product: sums of a panel become outputs.
//
// Included once for each target by files that use foreach_target.h.
#if defined(MIR_KERNELS_FAST_LINEAR_STORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIR_KERNELS_FAST_LINEAR_STORE_INL_H_
#undef MIR_KERNELS_FAST_LINEAR_STORE_INL_H_
#else
#define MIR_KERNELS_FAST_LINEAR_STORE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernels/fast/matrix/linear_tile.hpp"
#include "kernels/fast/matrix/micro-inl.h"
#include "kernels/fast/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {

/// A function of its own: a call costs little compared with a sum, and inlined it would be much
/// code in every kernel.
static HWY_NOINLINE FloatVector activate(Unary function, FloatVector y) {
  switch (function) {
    case Unary::kRelu:
      return relu(y);
    case Unary::kSigmoid:
      return sigmoid(y);
    case Unary::kSilu:
      return silu(y);
    case Unary::kGelu:
      return gelu(y);
    case Unary::kQuickGelu:
      return quick_gelu(y);
    default:
      return y;
  }
}

/// Sums of one row to its outputs from `first` on, a vector at a time. A last vector that is not
/// full goes through `padded`.
template <bool kGated>
HWY_INLINE void store_row(const LinearTile& tile, std::int64_t width, std::int64_t row,
                          const float* sums, const float* factors) {
  const Floats d;
  const std::int64_t first = tile.panel * width;
  const std::int64_t columns = std::min(width, tile.weight->outputs - first);
  float* const out = tile.out + row * tile.out_stride + first;
  const float* const bias = tile.epilogue.bias == nullptr ? nullptr : tile.epilogue.bias + first;
  const std::optional<Unary> activation = tile.epilogue.activation;
  const float* const residual =
      tile.epilogue.residual == nullptr
          ? nullptr
          : tile.epilogue.residual + row * tile.epilogue.residual_stride + first;
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
    if (activation) y = activate(*activation, y);
    if constexpr (kGated) y = hn::Mul(y, hn::LoadU(d, factors + column));
    if (residual != nullptr) y = hn::Add(y, load(residual + column, count));
    store_results(y, out + column, count);
  }
}

/// `sums`, and `factors` where the tile is gated, have `width` columns for each row.
HWY_INLINE void store_tile(const LinearTile& tile, std::int64_t width, const float* sums,
                           const float* factors) {
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    if (tile.up != nullptr) {
      store_row<true>(tile, width, row, sums + row * width, factors + row * width);
    } else {
      store_row<false>(tile, width, row, sums + row * width, nullptr);
    }
  }
}

/// Computes and stores a tile of `width` columns. multiply(weight, sums) writes its products row by
/// row; `scratch` has room for two tiles.
template <class Multiply>
HWY_INLINE void make_tile(const LinearTile& tile, std::int64_t width, float* scratch,
                          Multiply multiply) {
  float* const factors = scratch + tile.rows * width;
  multiply(*tile.weight, scratch);
  if (tile.up != nullptr) multiply(*tile.up, factors);
  store_tile(tile, width, scratch, factors);
}

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

// Rows of a matrix as columns of a panel. Included once for each target, after micro-inl.h.
#if defined(MIR_KERNELS_FAST_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIR_KERNELS_FAST_TRANSPOSE_INL_H_
#undef MIR_KERNELS_FAST_TRANSPOSE_INL_H_
#else
#define MIR_KERNELS_FAST_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "kernels/fast/matrix/micro-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Four elements from `at` on of every fourth row, one row for each 128 bits.
template <class D>
HWY_INLINE hn::Vec<D> load_quarters(D d, const float* const* rows, std::int64_t at) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return hn::LoadU(d, rows[0] + at);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_quarters(half, rows + hn::MaxLanes(half), at),
                       load_quarters(half, rows, at));
  }
}

/// Elements at .. at + 3 of kLanes rows: element at + i of all rows to to + i kPanelWidth.
HWY_INLINE void transpose_four(const float* const* rows, std::int64_t at, float* to) {
  const Floats d;
  const hn::RepartitionToWide<hn::RebindToUnsigned<Floats>> pairs;
  const auto low = [&](auto a, auto b)
                       HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveLower(d, a, b)); };
  const auto high = [&](auto a, auto b)
                        HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveUpper(d, a, b)); };
  const FloatVector r0 = load_quarters(d, rows, at), r1 = load_quarters(d, rows + 1, at);
  const FloatVector r2 = load_quarters(d, rows + 2, at), r3 = load_quarters(d, rows + 3, at);
  const auto first = low(r0, r1), second = low(r2, r3);
  const auto third = high(r0, r1), fourth = high(r2, r3);
  const auto store = [&](auto v, std::int64_t i)
                         HWY_ATTR { hn::StoreU(hn::BitCast(d, v), d, to + i * kPanelWidth); };
  store(hn::InterleaveLower(pairs, first, second), 0);
  store(hn::InterleaveUpper(pairs, first, second), 1);
  store(hn::InterleaveLower(pairs, third, fourth), 2);
  store(hn::InterleaveUpper(pairs, third, fourth), 3);
}

#endif

/// panel[d kPanelWidth + j] = from[j stride + d] for d < width and j < count <= kPanelWidth;
/// columns after the first `count`, at least 1, repeat the last one.
HWY_INLINE void transpose_rows(const float* from, std::int64_t stride, std::int64_t count,
                               std::int64_t width, float* panel) {
  for (std::int64_t column = 0; column < kPanelWidth; column += kLanes) {
    const float* rows[kLanes];
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      rows[lane] = from + std::min(column + lane, count - 1) * stride;
    }
    std::int64_t d = 0;
#if HWY_TARGET != HWY_SCALAR
    for (; d + 4 <= width; d += 4) transpose_four(rows, d, panel + d * kPanelWidth + column);
#endif
    for (; d < width; ++d) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        panel[d * kPanelWidth + column + lane] = rows[lane][d];
      }
    }
  }
}

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

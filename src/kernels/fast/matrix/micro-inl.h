// The microkernel of matrix products: a block of rows times a panel of columns, in registers.
//
// Included once for each target by files that use foreach_target.h.
#if defined(MIR_KERNELS_FAST_MICRO_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIR_KERNELS_FAST_MICRO_INL_H_
#undef MIR_KERNELS_FAST_MICRO_INL_H_
#else
#define MIR_KERNELS_FAST_MICRO_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The widest vectors of the target, but of constant size.
using Floats = hn::CappedTag<float, 16>;
using FloatVector = hn::Vec<Floats>;
inline constexpr std::int64_t kLanes = hn::MaxLanes(Floats());

/// Accumulators, one row of factors and one broadcast element must fit the registers: 8 x 3 of 32,
/// 4 x 3 of 16.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
inline constexpr int kBlockRows = 8;
#else
inline constexpr int kBlockRows = 4;
#endif
inline constexpr int kPanelVectors = 3;
inline constexpr std::int64_t kPanelWidth = kPanelVectors * kLanes;

/// Products along the depth are summed in blocks of this many, each from zero in order, the sums of
/// the blocks in order: error bound (kDepthBlock + K / kDepthBlock) 2^-24 sum |a_k b_k|, and the
/// same bits whatever the number of rows. A block of a panel fits the second-level cache many
/// times.
inline constexpr std::int64_t kDepthBlock = 256;

HWY_INLINE FloatVector load_floats(const float* from) {
  return hn::LoadU(Floats(), from);
}
HWY_INLINE FloatVector load_floats(const hwy::bfloat16_t* from) {
  return hn::PromoteTo(Floats(), hn::LoadU(hn::Rebind<hwy::bfloat16_t, Floats>(), from));
}
HWY_INLINE FloatVector load_floats(const hwy::float16_t* from) {
  const FloatVector v =
      hn::PromoteTo(Floats(), hn::LoadU(hn::Rebind<hwy::float16_t, Floats>(), from));
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  return v;
#else
  // Without an instruction Highway 1.0.3 takes infinities and NaN for numbers from 2^16 on.
  const FloatVector infinity = hn::Set(Floats(), std::numeric_limits<float>::infinity());
  return hn::IfThenElse(hn::Ge(hn::Abs(v), hn::Set(Floats(), 65536.0F)), hn::Or(v, infinity), v);
#endif
}

/// Addresses and strides of the microkernel's operands. Strides count elements.
template <class B>
struct Block {
  const float* a;  ///< element (row, k) at row a_row + k a_step
  std::int64_t a_row;
  std::int64_t a_step;
  const B* b;  ///< kVectors vectors of step k at k b_step
  std::int64_t b_step;
  std::int64_t depth;
  float* c;  ///< element (row, column) at row c_row + column
  std::int64_t c_row;
  bool adds;                    ///< to what is in c; otherwise c is written only
  const char* later = nullptr;  ///< for Fetch::kLater: fetched by and by,
  std::int64_t later_step = 0;  ///< so many bytes a step, kLaterBytes at most
};

/// Distance, in bytes, by which prefetching of a panel precedes its use. The hardware prefetcher
/// stops at pages of 4 KiB.
inline constexpr std::int64_t kPrefetchBytes = 4096;

inline constexpr std::int64_t kLineBytes = 64;
/// With two blocks of rows or more, at most half a step's floats are prefetched for later.
inline constexpr std::int64_t kLaterBytes =
    (kPanelWidth * 2 + kLineBytes - 1) / kLineBytes * kLineBytes;

/// Memory that the microkernel prefetches: nothing; its own panel, kPrefetchBytes ahead; or the
/// operand of the next product, into the second-level cache, because the first is full.
enum class Fetch { kNothing, kPanel, kLater };

/// c (+)= a b for kRows rows and kVectors vectors of columns.
template <int kRows, int kVectors, Fetch kFetch, class B>
MIR_MICROKERNEL void multiply_block(const Block<B>& of) {
  const Block<B> block = of;  // a copy, which no store to c can change
  const Floats d;
  FloatVector sum[kRows][kVectors];
  HWY_UNROLL(12)
  for (int row = 0; row < kRows; ++row) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) sum[row][v] = hn::Zero(d);
  }
  const float* a = block.a;
  const B* b = block.b;
  const char* later = block.later;
  for (std::int64_t k = 0; k < block.depth; ++k, a += block.a_step, b += block.b_step) {
    FloatVector factor[kVectors];
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) {
      factor[v] = load_floats(b + v * kLanes);
      if constexpr (kFetch == Fetch::kPanel) {
        hwy::Prefetch(reinterpret_cast<const char*>(b + v * kLanes) + kPrefetchBytes);
      }
    }
    if constexpr (kFetch == Fetch::kLater) {
      for (std::int64_t line = 0; line < kLaterBytes; line += kLineBytes) {
        __builtin_prefetch(later + line, 0, 2);
      }
      later += block.later_step;
    }
    HWY_UNROLL(12)
    for (int row = 0; row < kRows; ++row) {
      const FloatVector x = hn::Set(d, a[row * block.a_row]);
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; ++v) sum[row][v] = hn::MulAdd(x, factor[v], sum[row][v]);
    }
  }
  HWY_UNROLL(12)
  for (int row = 0; row < kRows; ++row) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) {
      float* const c = block.c + row * block.c_row + v * kLanes;
      hn::StoreU(block.adds ? hn::Add(hn::LoadU(d, c), sum[row][v]) : sum[row][v], d, c);
    }
  }
}

/// Rows of a block of so many vectors of columns: fewer columns leave registers for more rows.
template <int kVectors>
inline constexpr int kRowsOfBlock = (kBlockRows * kPanelVectors) / std::max(kVectors, 2);

/// Dispatches to the block for `rows` rows, at most kRowsOfBlock.
template <int kVectors, Fetch kFetch, class B, int kRows = kRowsOfBlock<kVectors>>
HWY_INLINE void multiply_rows(int rows, const Block<B>& block) {
  if constexpr (kRows > 1) {
    if (rows != kRows) return multiply_rows<kVectors, kFetch, B, kRows - 1>(rows, block);
  }
  multiply_block<kRows, kVectors, kFetch>(block);
}

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

// Functions of a vector of floats, and vectors that are not full. Included once for each target,
// after micro-inl.h. A lane's bits depend on that lane alone.
#if defined(MIR_KERNELS_FAST_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIR_KERNELS_FAST_VECTOR_MATH_INL_H_
#undef MIR_KERNELS_FAST_VECTOR_MATH_INL_H_
#else
#define MIR_KERNELS_FAST_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/fast/matrix/micro-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {

/// The first `count` elements, at most kLanes, at `from`; nothing after them is read. The other
/// lanes hold `fill`.
HWY_INLINE FloatVector load_first(const float* from, std::int64_t count, float fill = 0) {
  if (count == kLanes) return hn::LoadU(Floats(), from);
  HWY_ALIGN float padded[kLanes];
  std::fill_n(std::copy_n(from, count, padded), kLanes - count, fill);
  return hn::Load(Floats(), padded);
}

/// Stores the first `count` lanes, at most kLanes; nothing after them is written.
HWY_INLINE void store_first(FloatVector v, float* to, std::int64_t count) {
  if (count == kLanes) return hn::StoreU(v, Floats(), to);
  HWY_ALIGN float padded[kLanes];
  hn::Store(v, Floats(), padded);
  std::copy_n(padded, count, to);
}

/// A result as it is stored: any NaN is the positive quiet one (docs/ops/conventions.md), where
/// processors give one of their operands' or a negative one.
HWY_INLINE FloatVector as_stored(FloatVector v) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  return hn::IfThenElse(hn::IsNaN(v), hn::Set(Floats(), kNaN), v);
}

/// Stores the first `count` lanes as results.
HWY_INLINE void store_results(FloatVector v, float* to, std::int64_t count) {
  store_first(as_stored(v), to, count);
}

/// The nearest BFloat16, ties to even, in the high halves; the low ones are 0. A NaN is the
/// positive quiet one.
HWY_INLINE hn::Vec<hn::RebindToUnsigned<Floats>> round_to_bfloat(FloatVector v) {
  const hn::RebindToUnsigned<Floats> d;
  const auto bits = hn::BitCast(d, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
  const auto up = hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7fff)));
  const auto is_nan = hn::RebindMask(d, hn::IsNaN(v));
  const auto quiet = hn::Set(d, 0x7fc00000);
  return hn::And(hn::IfThenElse(is_nan, quiet, up), hn::Set(d, 0xffff0000));
}

/// max(x, low); a NaN stays a NaN.
HWY_INLINE FloatVector at_least(FloatVector x, float low) {
  const FloatVector bound = hn::Set(Floats(), low);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::Max(bound, x);  // the second where one is a NaN
#else
  return hn::IfThenElse(hn::Lt(x, bound), bound, x);
#endif
}

/// x = n ln 2 / kParts + r with |r| <= ln 2 / (2 kParts), for |x| <= 174: n is an integer in the
/// low bits of `steps`, whose other bits leave at the top in a shift left by 20. ln 2 is the sum of
/// two numbers, or one, which adds at most 2^-28.4 |x| to r. A NaN gives a NaN in `r`.
struct Reduced {
  FloatVector r;
  hn::Vec<hn::RebindToSigned<Floats>> steps;
};

/// Precision of ln 2: one Float32, or the sum of two.
enum class Ln2 : std::uint8_t { kOneNumber, kTwoNumbers };

template <int kParts, Ln2 kLn2>
HWY_INLINE Reduced reduce(FloatVector x) {
  const Floats d;
  // Adding 1.5 2^23 / kParts rounds to a multiple of 1 / kParts, whose number is in the low bits.
  const FloatVector rounder = hn::Set(d, 12582912.0F / kParts);
  const FloatVector shifted = hn::MulAdd(x, hn::Set(d, 1.44269504F), rounder);
  const FloatVector n = hn::Sub(shifted, rounder);
  const auto steps = hn::BitCast(hn::RebindToSigned<Floats>(), shifted);
  if constexpr (kLn2 == Ln2::kOneNumber) {
    return {hn::NegMulAdd(n, hn::Set(d, 0.69314718F), x), steps};
  }
  const FloatVector r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
  return {hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r), steps};
}

/// e^r - 1 for |r| <= ln 2 / 2: minimax of the relative error of e^r, which is at most 2^-28,
/// coefficients rounded one by one.
HWY_INLINE FloatVector exp_less_one(FloatVector r) {
  const Floats d;
  const FloatVector square = hn::Mul(r, r);
  const FloatVector low = hn::MulAdd(r, hn::Set(d, 1.666652113e-1F), hn::Set(d, 4.999999404e-1F));
  FloatVector high = hn::MulAdd(r, hn::Set(d, 8.368675597e-3F), hn::Set(d, 4.166826606e-2F));
  high = hn::MulAdd(square, hn::Set(d, 1.382068964e-3F), high);
  const FloatVector p = hn::MulAdd(square, high, low);
  return hn::MulAdd(square, p, r);
}

/// 2^n of the integer in the low bits; n in [-126, 127], or -127 for 0.
HWY_INLINE FloatVector power_of_two(hn::Vec<hn::RebindToSigned<Floats>> n) {
  const hn::RebindToSigned<Floats> di;
  return hn::BitCast(Floats(), hn::Add(hn::ShiftLeft<23>(n), hn::Set(di, 127 << 23)));
}

/// e^x = power (1 + above_one) for |x| <= 87.33; for x = -88.02 power is 0.
struct Exponential {
  FloatVector power;
  FloatVector above_one;
};

#if HWY_MAX_BYTES >= 32
/// Eight floats and more hold 2^(j/8), each within 0.27 2^-23 of it, so a cubic polynomial is
/// enough: its relative error is at most 2^-25.2.
template <Ln2 kLn2>
HWY_INLINE Exponential exponential(FloatVector x) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  // The bits of 2^(j/8) less j 2^20, which the shifted steps bring: there j is below the exponent.
  alignas(64) static constexpr std::int32_t kPowers[] = {
      0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a,
      0x3f7744fd, 0x3f7ac0c7, 0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7,
      0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7};
  const Reduced e = reduce<8, kLn2>(x);
  // Lookups see only the lowest bits of a lane's number; hn::IndicesFromVec asks for zeros above.
  using LaneNumbers = decltype(hn::IndicesFromVec(di, e.steps));
  const auto power = hn::TableLookupLanes(hn::Load(di, kPowers), LaneNumbers{e.steps.raw});
  const FloatVector p = hn::MulAdd(e.r, hn::Set(d, 0.16667116F), hn::Set(d, 0.5000646F));
  return {hn::BitCast(d, hn::Add(power, hn::ShiftLeft<20>(e.steps))),
          hn::MulAdd(hn::Mul(e.r, e.r), p, e.r)};
}
#else
/// ln 2 is two numbers here always: without fused multiply-adds one would not do.
template <Ln2>
HWY_INLINE Exponential exponential(FloatVector x) {
  const Reduced e = reduce<1, Ln2::kTwoNumbers>(x);
  return {power_of_two(e.steps), exp_less_one(e.r)};
}
#endif

/// As exponential; callers pass -88.02 where the result is 0.
template <Ln2 kLn2>
HWY_INLINE FloatVector exp_in_normal_range(FloatVector x) {
  const auto [power, above_one] = exponential<kLn2>(x);
  return hn::MulAdd(power, above_one, power);
}

/// A value as a product of two numbers, so that it need not be normal: the second is a power of
/// two.
struct Scaled {
  FloatVector factor;
  FloatVector power;
};

/// e^x for x in [-172, 89]; a NaN gives a NaN. Both halves of n are exponents of normal numbers, so
/// their product with a number is rounded once.
HWY_INLINE Scaled exp_in_range(FloatVector x) {
  const Reduced e = reduce<1, Ln2::kTwoNumbers>(x);
  const auto half = hn::ShiftRight<1>(e.steps);
  return {hn::Mul(hn::Add(exp_less_one(e.r), hn::Set(Floats(), 1.0F)), power_of_two(half)),
          power_of_two(hn::Sub(e.steps, half))};
}

/// e^x for x <= 0 or NaN, within 1.25 ULP and 2^-28.4 |x| e^x; 0 for x < -87.33, just above
/// where it stops being normal. For weights, of which the largest is 1.
HWY_INLINE FloatVector exp_of_weight(FloatVector x) {
  const Floats d;
  const auto vanishes = hn::Lt(x, hn::Set(d, -87.33F));
  return exp_in_normal_range<Ln2::kOneNumber>(hn::IfThenElse(vanishes, hn::Set(d, -88.02F), x));
}

/// True where |x| <= 87, where e^x and 1 + e^x are normal.
HWY_INLINE auto has_normal_exp(FloatVector x) {
  return hn::Le(hn::Abs(x), hn::Set(Floats(), 87.0F));
}

/// e^x for any x. Results below the smallest subnormal are set to zero, because some processors
/// multiply slowly there.
static HWY_NOINLINE FloatVector exp_beyond(FloatVector x) {
  const Floats d;
  const FloatVector most = hn::Set(d, 89.0F);
  const auto vanishes = hn::Lt(x, hn::Set(d, -104.0F));
  const FloatVector raised = hn::IfThenZeroElse(vanishes, x);
  const Scaled y = exp_in_range(hn::IfThenElse(hn::Gt(raised, most), most, raised));
  return hn::IfThenZeroElse(vanishes, hn::Mul(y.factor, y.power));
}

/// e^x within 1.25 ULP: +inf from 128 ln 2 on, +0 below -104, subnormal results rounded once, a NaN
/// for a NaN.
HWY_INLINE FloatVector exp(FloatVector x) {
  const auto is_small = has_normal_exp(x);
  const FloatVector y = exp_in_normal_range<Ln2::kTwoNumbers>(x);
  if (HWY_LIKELY(hn::AllTrue(Floats(), is_small))) return y;
  return hn::IfThenElse(is_small, y, exp_beyond(x));
}

/// x / (1 + e^v) for any v. Over v <= 0 the exponential is at most 1; above it x e^-v / (1 + e^-v)
/// is formed with the power of two last, so nothing overflows and a result that is subnormal is
/// rounded once. Where v is above 172, that of 172 for x at least -172.
static HWY_NOINLINE FloatVector gated_beyond(FloatVector x, FloatVector v) {
  const Floats d;
  const FloatVector one = hn::Set(d, 1.0F), raised = at_least(x, -172.0F);
  const FloatVector low = hn::Or(v, hn::SignBit(d));
  const auto vanishes = hn::Lt(low, hn::Set(d, -172.0F));
  Scaled t = exp_in_range(hn::IfThenZeroElse(vanishes, low));
  t.factor = hn::IfThenZeroElse(vanishes, t.factor);
  const auto falls = hn::Gt(v, hn::Zero(d));
  const FloatVector numerator = hn::IfThenElse(falls, hn::Mul(raised, t.factor), raised);
  const FloatVector power = hn::IfThenElse(falls, t.power, one);
  return hn::Mul(hn::Div(numerator, hn::Add(one, hn::Mul(t.factor, t.power))), power);
}

/// x / (1 + e^v).
HWY_INLINE FloatVector gated(FloatVector x, FloatVector v) {
  const auto is_small = has_normal_exp(v);
  const auto [power, above_one] = exponential<Ln2::kOneNumber>(v);
  const FloatVector above = hn::Add(power, hn::Set(Floats(), 1.0F));
  const FloatVector y = hn::Div(x, hn::MulAdd(power, above_one, above));
  if (HWY_LIKELY(hn::AllTrue(Floats(), is_small))) return y;
  return hn::IfThenElse(is_small, y, gated_beyond(x, v));
}

/// max(x, 0); 0 for -0, a NaN stays one.
HWY_INLINE FloatVector relu(FloatVector x) {
  return hn::IfThenZeroElse(hn::Le(x, hn::Zero(Floats())), x);
}

/// 1 / (1 + e^-x).
HWY_INLINE FloatVector sigmoid(FloatVector x) {
  return gated(hn::Set(Floats(), 1.0F), hn::Neg(x));
}

/// x / (1 + e^-x); at -inf, and where the result underflows, -0.
HWY_INLINE FloatVector silu(FloatVector x) {
  return gated(x, hn::Neg(x));
}

/// x / (1 + e^-u), u = 2 c (x + d x^3), c = 0.79788456, d = 0.044715 each rounded to Float32.
HWY_INLINE FloatVector gelu(FloatVector x) {
  const Floats d;
  constexpr float kLinear = -2 * 0.79788456F;
  constexpr float kCubic = static_cast<float>(-2.0 * 0.79788456F * 0.044715F);
  return gated(x, hn::Mul(x, hn::MulAdd(hn::Mul(x, x), hn::Set(d, kCubic), hn::Set(d, kLinear))));
}

/// x / (1 + e^-(c x)), c = 1.702 rounded to Float32.
HWY_INLINE FloatVector quick_gelu(FloatVector x) {
  return gated(x, hn::Mul(x, hn::Set(Floats(), -1.702F)));
}

/// The sum of the lanes, in an order that depends on the instruction set alone.
HWY_INLINE float sum_of_lanes(FloatVector v) {
  return hn::GetLane(hn::SumOfLanes(Floats(), v));
}

/// The largest lane; of lanes with a NaN, any.
HWY_INLINE float largest_of_lanes(FloatVector v) {
  return hn::GetLane(hn::MaxOfLanes(Floats(), v));
}

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

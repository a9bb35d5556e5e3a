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

#include "micro-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {

/// The first `count` elements, at most kLanes, at `from`; nothing behind them is read. The other
/// lanes hold `fill`.
HWY_INLINE FloatVector load_first(const float* from, std::int64_t count, float fill = 0) {
  if (count == kLanes) return hn::LoadU(Floats(), from);
  HWY_ALIGN float padded[kLanes];
  std::fill_n(std::copy_n(from, count, padded), kLanes - count, fill);
  return hn::Load(Floats(), padded);
}

/// Stores the first `count` lanes, at most kLanes; nothing behind them is written.
HWY_INLINE void store_first(FloatVector v, float* to, std::int64_t count) {
  if (count == kLanes) return hn::StoreU(v, Floats(), to);
  HWY_ALIGN float padded[kLanes];
  hn::Store(v, Floats(), padded);
  std::copy_n(padded, count, to);
}

/// The nearest BFloat16, ties to even, in the high halves; the low ones are 0. A NaN stays one.
HWY_INLINE hn::Vec<hn::RebindToUnsigned<Floats>> round_to_bfloat(FloatVector v) {
  const hn::RebindToUnsigned<Floats> d;
  const auto bits = hn::BitCast(d, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
  const auto up = hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7fff)));
  const auto is_nan = hn::RebindMask(d, hn::IsNaN(v));
  const auto quiet = hn::Or(bits, hn::Set(d, 0x00400000));
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

/// e^x = (1 + above_one) 2^n for x with |x| <= 174: n + kBias an integer in the low bits of
/// `shifted`, whose other bits leave at the top when it is shifted left by 23. A NaN gives a NaN in
/// `above_one`. x = n ln 2 + r, |r| <= ln 2 / 2, ln 2 in two parts; the polynomial has a relative
/// error of at most 2^-28.
struct Exponential {
  FloatVector above_one;
  hn::Vec<hn::RebindToSigned<Floats>> shifted;
};

/// What exponents of floats have beside their value.
inline constexpr int kExponentBias = 127;

template <int kBias>
HWY_INLINE Exponential exp_parts(FloatVector x) {
  const Floats d;
  // Adding 1.5 2^23 rounds to an integer, which then stands in the low bits.
  const FloatVector rounder = hn::Set(d, 12582912.0F + static_cast<float>(kBias));
  const FloatVector shifted = hn::MulAdd(x, hn::Set(d, 1.44269504F), rounder);
  const FloatVector n = hn::Sub(shifted, rounder);
  FloatVector r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
  // (e^r - 1 - r) / r^2: minimax of the relative error of e^r, coefficients rounded one by one.
  const FloatVector square = hn::Mul(r, r);
  const FloatVector low = hn::MulAdd(r, hn::Set(d, 1.666652113e-1F), hn::Set(d, 4.999999404e-1F));
  FloatVector high = hn::MulAdd(r, hn::Set(d, 8.368675597e-3F), hn::Set(d, 4.166826606e-2F));
  high = hn::MulAdd(square, hn::Set(d, 1.382068964e-3F), high);
  const FloatVector p = hn::MulAdd(square, high, low);
  return {hn::MulAdd(square, p, r), hn::BitCast(hn::RebindToSigned<Floats>(), shifted)};
}

/// kFrom + e^x where kFrom is 0 or 1, for |x| <= 87.3, and down to -88 where it is 0: below -87.7
/// the power of two is 0.
template <int kFrom>
HWY_INLINE FloatVector plus_exp(FloatVector x) {
  const Exponential e = exp_parts<kExponentBias>(x);
  const FloatVector power = hn::BitCast(Floats(), hn::ShiftLeft<23>(e.shifted));
  if constexpr (kFrom == 0) return hn::MulAdd(power, e.above_one, power);
  return hn::MulAdd(power, e.above_one, hn::Add(power, hn::Set(Floats(), 1.0F)));
}

/// 2^n of the integer in the low bits; n in [-126, 127].
HWY_INLINE FloatVector power_of_two(hn::Vec<hn::RebindToSigned<Floats>> n) {
  const hn::RebindToSigned<Floats> di;
  return hn::BitCast(Floats(), hn::Add(hn::ShiftLeft<23>(n), hn::Set(di, kExponentBias << 23)));
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
  const Exponential e = exp_parts<0>(x);
  const auto half = hn::ShiftRight<1>(e.shifted);
  return {hn::Mul(hn::Add(e.above_one, hn::Set(Floats(), 1.0F)), power_of_two(half)),
          power_of_two(hn::Sub(e.shifted, half))};
}

/// e^x for x <= 0 or NaN, within 1 ULP where it is normal; 0 for x < -87.7. For weights, of which
/// the largest is 1.
HWY_INLINE FloatVector exp_of_weight(FloatVector x) {
  return plus_exp<0>(at_least(x, -88.0F));
}

/// e^x within 1 ULP: +inf from 128 ln 2 on, +0 below -104, subnormal results rounded once, a NaN
/// for a NaN. What underflows altogether is set to zero, because some processors multiply slowly
/// there.
HWY_INLINE FloatVector exp(FloatVector x) {
  const Floats d;
  const FloatVector most = hn::Set(d, 89.0F);
  const auto vanishes = hn::Lt(x, hn::Set(d, -104.0F));
  const FloatVector raised = hn::IfThenZeroElse(vanishes, x);
  const Scaled y = exp_in_range(hn::IfThenElse(hn::Gt(raised, most), most, raised));
  return hn::IfThenZeroElse(vanishes, hn::Mul(y.factor, y.power));
}

/// x / (1 + e^-u) for any u. Over u >= 0 the exponential is at most 1; below it x e^u / (1 + e^u)
/// is formed with the power of two last, so nothing overflows and a result that is subnormal is
/// rounded once. Where u is below -172, that of -172 for x at least.
static HWY_NOINLINE FloatVector gated_beyond(FloatVector x, FloatVector u) {
  const Floats d;
  const FloatVector one = hn::Set(d, 1.0F), raised = at_least(x, -172.0F);
  const FloatVector v = hn::Or(u, hn::SignBit(d));
  const auto vanishes = hn::Lt(v, hn::Set(d, -172.0F));
  Scaled t = exp_in_range(hn::IfThenZeroElse(vanishes, v));
  t.factor = hn::IfThenZeroElse(vanishes, t.factor);
  const auto falls = hn::Lt(u, hn::Zero(d));
  const FloatVector numerator = hn::IfThenElse(falls, hn::Mul(raised, t.factor), raised);
  const FloatVector power = hn::IfThenElse(falls, t.power, one);
  return hn::Mul(hn::Div(numerator, hn::Add(one, hn::Mul(t.factor, t.power))), power);
}

/// x / (1 + e^-u). Within |u| <= 87 the exponential and what is divided are normal.
HWY_INLINE FloatVector gated(FloatVector x, FloatVector u) {
  const Floats d;
  const auto is_small = hn::Le(hn::Abs(u), hn::Set(d, 87.0F));
  const FloatVector y = hn::Div(x, plus_exp<1>(hn::Neg(u)));
  if (HWY_LIKELY(hn::AllTrue(d, is_small))) return y;
  return hn::IfThenElse(is_small, y, gated_beyond(x, u));
}

/// max(x, 0); 0 for -0, a NaN stays one.
HWY_INLINE FloatVector relu(FloatVector x) {
  return hn::IfThenZeroElse(hn::Le(x, hn::Zero(Floats())), x);
}

/// 1 / (1 + e^-x) within 2.5 ULP.
HWY_INLINE FloatVector sigmoid(FloatVector x) {
  return gated(hn::Set(Floats(), 1.0F), x);
}

/// x / (1 + e^-x) within 3.5 ULP; at -inf, and where the result underflows, -0.
HWY_INLINE FloatVector silu(FloatVector x) {
  return gated(x, x);
}

/// x / (1 + e^-u), u = 2 c (x + d x^3), c = 0.79788456, d = 0.044715 each rounded to Float32.
HWY_INLINE FloatVector gelu(FloatVector x) {
  const Floats d;
  constexpr float kLinear = 2 * 0.79788456F;
  constexpr float kCubic = static_cast<float>(2.0 * 0.79788456F * 0.044715F);
  return gated(x, hn::Mul(x, hn::MulAdd(hn::Mul(x, x), hn::Set(d, kCubic), hn::Set(d, kLinear))));
}

/// x / (1 + e^-(c x)), c = 1.702 rounded to Float32.
HWY_INLINE FloatVector quick_gelu(FloatVector x) {
  return gated(x, hn::Mul(x, hn::Set(Floats(), 1.702F)));
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

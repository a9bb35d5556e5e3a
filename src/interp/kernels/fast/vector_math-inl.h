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

/// A value as a product of two numbers that need not be normal: the second is a power of two.
struct Scaled {
  FloatVector factor;
  FloatVector power;
};

/// e^x for x in [-172, 89]; a NaN gives a NaN. x = n ln 2 + r with |r| <= ln 2 / 2, ln 2 in two parts;
/// a polynomial for e^r with a relative error of at most 2^-28; n split into halves, so that a
/// result below 2^-126 is rounded once.
HWY_INLINE Scaled exp_in_range(FloatVector x) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  // Adding 1.5 2^23 rounds to an integer, which then stands in the low bits.
  const FloatVector rounder = hn::Set(d, 12582912.0F);
  const FloatVector shifted = hn::MulAdd(x, hn::Set(d, 1.44269504F), rounder);
  const FloatVector n = hn::Sub(shifted, rounder);
  FloatVector r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
  // (e^r - 1 - r) / r^2: minimax of the relative error of e^r, coefficients rounded one by one.
  FloatVector p = hn::Set(d, 1.382068964e-3F);
  p = hn::MulAdd(p, r, hn::Set(d, 8.368675597e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 4.166826606e-2F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.666652113e-1F));
  p = hn::MulAdd(p, r, hn::Set(d, 4.999999404e-1F));
  const FloatVector e = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), hn::Set(d, 1.0F));
  const auto exponent = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, rounder));
  const auto half = hn::ShiftRight<1>(exponent);
  const auto power = [&](auto k) {
    return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(k, hn::Set(di, 127))));
  };
  return {hn::Mul(e, power(half)), power(hn::Sub(exponent, half))};
}

/// e^x within 1 ULP: +inf from 128 ln 2 on, +0 below -104, subnormal results rounded once, a NaN for
/// a NaN. What underflows altogether is set to zero, because some processors multiply slowly there.
HWY_INLINE FloatVector exp(FloatVector x) {
  const Floats d;
  const FloatVector most = hn::Set(d, 89.0F);
  const auto vanishes = hn::Lt(x, hn::Set(d, -104.0F));
  const FloatVector raised = hn::IfThenZeroElse(vanishes, x);
  const Scaled y = exp_in_range(hn::IfThenElse(hn::Gt(raised, most), most, raised));
  return hn::IfThenZeroElse(vanishes, hn::Mul(y.factor, y.power));
}

/// x / (1 + e^-u) for |x| that is not large where u is below -172. Over u >= 0 the exponential is at
/// most 1; below it x e^u / (1 + e^u) is formed with the power of two last, so nothing overflows
/// and a result that is subnormal is rounded once.
HWY_INLINE FloatVector gated(FloatVector x, FloatVector u) {
  const Floats d;
  const FloatVector one = hn::Set(d, 1.0F);
  const FloatVector v = hn::Or(u, hn::SignBit(d));
  const auto vanishes = hn::Lt(v, hn::Set(d, -172.0F));
  Scaled t = exp_in_range(hn::IfThenZeroElse(vanishes, v));
  t.factor = hn::IfThenZeroElse(vanishes, t.factor);
  const auto falls = hn::Lt(u, hn::Zero(d));
  const FloatVector numerator = hn::IfThenElse(falls, hn::Mul(x, t.factor), x);
  const FloatVector power = hn::IfThenElse(falls, t.power, one);
  return hn::Mul(hn::Div(numerator, hn::Add(one, hn::Mul(t.factor, t.power))), power);
}

/// max(x, low); a NaN stays a NaN.
HWY_INLINE FloatVector at_least(FloatVector x, float low) {
  const FloatVector bound = hn::Set(Floats(), low);
  return hn::IfThenElse(hn::Lt(x, bound), bound, x);
}

/// 1 / (1 + e^-x) within 2.5 ULP.
HWY_INLINE FloatVector sigmoid(FloatVector x) { return gated(hn::Set(Floats(), 1.0F), x); }

/// x / (1 + e^-x) within 3.5 ULP; at -inf, and where the result underflows, -0.
HWY_INLINE FloatVector silu(FloatVector x) {
  const FloatVector raised = at_least(x, -172.0F);
  return gated(raised, raised);
}

/// x / (1 + e^-u), u = 2 c (x + d x^3), c = 0.79788456, d = 0.044715 each rounded to Float32.
HWY_INLINE FloatVector gelu(FloatVector x) {
  const Floats d;
  const FloatVector raised = at_least(x, -20.0F);  // e^u is 0 there
  const FloatVector cubic =
      hn::MulAdd(hn::Mul(raised, raised), hn::Set(d, 0.044715F), hn::Set(d, 1.0F));
  return gated(raised, hn::Mul(hn::Mul(raised, hn::Set(d, 2 * 0.79788456F)), cubic));
}

/// x / (1 + e^-(c x)), c = 1.702 rounded to Float32.
HWY_INLINE FloatVector quick_gelu(FloatVector x) {
  const FloatVector raised = at_least(x, -172.0F);
  return gated(raised, hn::Mul(raised, hn::Set(Floats(), 1.702F)));
}

/// The lanes' sum as a tree: each step adds the upper half of the lanes to the lower half.
HWY_INLINE float sum_of_lanes(FloatVector v) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, Floats(), lanes);
  for (std::int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::int64_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

/// The largest lane; of lanes with a NaN, any.
HWY_INLINE float largest_of_lanes(FloatVector v) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, Floats(), lanes);
  return *std::max_element(lanes, lanes + kLanes);
}

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

// Functions of a vector of floats. Included once for each target, after micro-inl.h.
#if defined(MIR_KERNELS_FAST_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIR_KERNELS_FAST_VECTOR_MATH_INL_H_
#undef MIR_KERNELS_FAST_VECTOR_MATH_INL_H_
#else
#define MIR_KERNELS_FAST_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include "micro-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {

/// e^x: x = n ln 2 + r with |r| <= ln 2 / 2 and ln 2 in two parts, a polynomial of degree 6 for e^r,
/// then two exact-as-possible multiplications by powers of two, so that results below 2^-126 are
/// rounded once. Over 128 ln 2 it is +inf, under -150 ln 2 it is +0, a NaN stays a NaN.
HWY_INLINE FloatVector exp(FloatVector x) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const FloatVector clamped =
      hn::Min(hn::Max(x, hn::Set(d, -104.0F)), hn::Set(d, 89.0F));  // a NaN may become a bound
  const FloatVector n = hn::Round(hn::Mul(clamped, hn::Set(d, 1.44269504F)));
  FloatVector r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), clamped);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
  // e^r - 1 - r over r^2, a minimax polynomial (Cephes, expf).
  FloatVector p = hn::Set(d, 1.9875691500e-4F);
  p = hn::MulAdd(p, r, hn::Set(d, 1.3981999507e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1F));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1F));
  const FloatVector e = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), hn::Set(d, 1.0F));
  // n is in [-150, 128]: half of it, then the rest, are exponents of normal numbers.
  const auto exponent = hn::ConvertTo(di, n);
  const auto half = hn::ShiftRight<1>(exponent);
  const auto power = [&](auto k) {
    return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(k, hn::Set(di, 127))));
  };
  const FloatVector y = hn::Mul(hn::Mul(e, power(half)), power(hn::Sub(exponent, half)));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// 1 / (1 + e^-x).
HWY_INLINE FloatVector sigmoid(FloatVector x) {
  const FloatVector one = hn::Set(Floats(), 1.0F);
  return hn::Div(one, hn::Add(one, exp(hn::Neg(x))));
}

/// x / (1 + e^-x); at -inf the limit -0.
HWY_INLINE FloatVector silu(FloatVector x) {
  const Floats d;
  const FloatVector y = hn::Div(x, hn::Add(hn::Set(d, 1.0F), exp(hn::Neg(x))));
  return hn::IfThenElse(hn::Eq(x, hn::Neg(hn::Inf(d))), hn::Set(d, -0.0F), y);
}

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

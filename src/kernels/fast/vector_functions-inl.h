// Functions of vectors of floats that vector_math-inl.h does without. Included once for each
// target, after vector_math-inl.h. A lane's bits depend on that lane alone.
#if defined(MIR_KERNELS_FAST_VECTOR_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIR_KERNELS_FAST_VECTOR_FUNCTIONS_INL_H_
#undef MIR_KERNELS_FAST_VECTOR_FUNCTIONS_INL_H_
#else
#define MIR_KERNELS_FAST_VECTOR_FUNCTIONS_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/fast/matrix/micro-inl.h"
#include "kernels/fast/vector_math-inl.h"
#include "kernels/ref/elementary.hpp"

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {

/// log x = n ln 2 + log(1 + f), x = 2^n (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). The polynomial
/// is that of Cephes' logf, ln 2 is in two parts. -inf at 0, NaN below.
HWY_INLINE FloatVector log(FloatVector x) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const auto is_small = hn::Lt(x, hn::Set(d, 0x1p-126F));
  const FloatVector normal = hn::IfThenElse(is_small, hn::Mul(x, hn::Set(d, 0x1p25F)), x);
  // 1 + f has the exponent of 1 or of 1/2: counted from that of sqrt(1/2).
  const auto offset = hn::Sub(hn::BitCast(di, normal), hn::BitCast(di, hn::Set(d, 0.707106781F)));
  const auto exponent = hn::ShiftRight<23>(offset);
  const FloatVector f =
      hn::Sub(hn::BitCast(d, hn::Sub(hn::BitCast(di, normal), hn::ShiftLeft<23>(exponent))),
              hn::Set(d, 1.0F));
  const FloatVector n =
      hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElseZero(is_small, hn::Set(d, 25.0F)));
  constexpr float kCoefficients[] = {-1.1514610310e-1F, 1.1676998740e-1F,  -1.2420140846e-1F,
                                     1.4249322787e-1F,  -1.6668057665e-1F, 2.0000714765e-1F,
                                     -2.4999993993e-1F, 3.3333331174e-1F};
  FloatVector p = hn::Set(d, 7.0376836292e-2F);
  for (const float each : kCoefficients) p = hn::MulAdd(p, f, hn::Set(d, each));
  const FloatVector square = hn::Mul(f, f);
  FloatVector low = hn::Mul(hn::Mul(p, f), square);
  low = hn::MulAdd(n, hn::Set(d, -2.12194440e-4F), low);
  low = hn::NegMulAdd(hn::Set(d, 0.5F), square, low);
  const FloatVector y = hn::MulAdd(n, hn::Set(d, 0.693359375F), hn::Add(f, low));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto is_number = hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, hn::Set(d, kInfinity)));
  // Remaining arguments: 0 gives -inf, infinity gives itself, all others give NaN.
  const FloatVector other =
      hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, -kInfinity),
                     hn::IfThenElse(hn::Eq(x, hn::Set(d, kInfinity)), x,
                                    hn::Set(d, std::numeric_limits<float>::quiet_NaN())));
  return hn::IfThenElse(is_number, y, other);
}

using Doubles = hn::CappedTag<double, 8>;
using DoubleVector = hn::Vec<Doubles>;
inline constexpr std::int64_t kDoubles = hn::MaxLanes(Doubles());

/// Sine, or cosine, of |x| <= 2^20. x = k pi/2 + r, |r| <= pi/4 and a little: the first two parts
/// of pi/2 have 33 bits, so their products with k are exact. The polynomials, of the least relative
/// errors for their degree, are within 2^-37 of the sine and 2^-33 of the cosine.
template <bool kCosine>
HWY_INLINE DoubleVector circular(DoubleVector x) {
  const Doubles d;
  const hn::RebindToSigned<Doubles> di;
  const DoubleVector rounder = hn::Set(d, 0x1.8p52);
  const DoubleVector shifted = hn::Add(hn::Mul(x, hn::Set(d, 0.63661977236758134308)), rounder);
  const DoubleVector k = hn::Sub(shifted, rounder);
  DoubleVector r = hn::NegMulAdd(k, hn::Set(d, 0x1.921fb544p+0), x);
  r = hn::NegMulAdd(k, hn::Set(d, 0x1.0b4611a6p-34), r);
  r = hn::NegMulAdd(k, hn::Set(d, 0x1.3198a2e037073p-69), r);
  const DoubleVector square = hn::Mul(r, r);
  const DoubleVector fourth = hn::Mul(square, square);
  const auto cubic = [&](double c0, double c1, double c2, double c3) HWY_ATTR {
    const DoubleVector low = hn::MulAdd(hn::Set(d, c1), square, hn::Set(d, c0));
    const DoubleVector high = hn::MulAdd(hn::Set(d, c3), square, hn::Set(d, c2));
    return hn::MulAdd(high, fourth, low);
  };
  const DoubleVector s = cubic(-0x1.5555554cbacbap-3, 0x1.11110896f3154p-7, -0x1.a00f9e2f74f50p-13,
                               0x1.6cd8797038800p-19);
  const DoubleVector sine = hn::MulAdd(hn::Mul(r, square), s, r);
  const DoubleVector c = cubic(-0x1.ffffffcb82c25p-2, 0x1.55553c788bcccp-5, -0x1.6c07f163f9460p-10,
                               0x1.99169e8c85e00p-16);
  const DoubleVector cosine = hn::MulAdd(square, c, hn::Set(d, 1.0));
  auto quadrant = hn::BitCast(di, shifted);
  if constexpr (kCosine) quadrant = hn::Add(quadrant, hn::Set(di, 1));
  const auto is_even = hn::RebindMask(d, hn::Eq(hn::And(quadrant, hn::Set(di, 1)), hn::Zero(di)));
  const DoubleVector y = hn::IfThenElse(is_even, sine, cosine);
  const auto second = hn::And(hn::BitCast(d, hn::ShiftLeft<62>(quadrant)), hn::SignBit(d));
  return hn::Xor(y, second);
}

/// Sine or cosine of any floats; those too large for the above go one by one.
template <bool kCosine>
HWY_INLINE FloatVector circular(FloatVector x) {
  const hn::Rebind<float, Doubles> narrow;
  HWY_ALIGN float values[kLanes];
  hn::Store(x, Floats(), values);
  const FloatVector most = hn::Set(Floats(), 0x1p20F);
  const bool all_small = hn::AllTrue(Floats(), hn::Le(hn::Abs(x), most));
  HWY_ALIGN float results[kLanes];
  for (std::int64_t i = 0; i < kLanes; i += kDoubles) {
    const DoubleVector y =
        circular<kCosine>(hn::PromoteTo(Doubles(), hn::Load(narrow, values + i)));
    hn::Store(hn::DemoteTo(narrow, y), narrow, results + i);
  }
  for (std::int64_t i = 0; !all_small && i < kLanes; ++i) {
    if (std::fabs(values[i]) <= 0x1p20F) continue;
    results[i] = static_cast<float>(kCosine ? ref::cos(values[i]) : ref::sin(values[i]));
  }
  // The sine of a zero is that zero.
  if constexpr (!kCosine) {
    return hn::IfThenElse(hn::Eq(x, hn::Zero(Floats())), x, hn::Load(Floats(), results));
  } else {
    return hn::Load(Floats(), results);
  }
}

/// -1 or 1 by the sign; a zero stays as it is.
HWY_INLINE FloatVector sign(FloatVector x) {
  const auto is_zero = hn::Eq(x, hn::Zero(Floats()));
  const FloatVector one = hn::CopySign(hn::Set(Floats(), 1.0F), x);
  return hn::IfThenElse(hn::Or(is_zero, hn::IsNaN(x)), x, one);
}

/// The larger element as ref::extreme_of chooses it: of two zeros +0 if one is, of NaN any.
HWY_INLINE FloatVector larger(FloatVector x, FloatVector y) {
  const FloatVector unequal = hn::IfThenElse(hn::Lt(x, y), y, x);
  const FloatVector most = hn::IfThenElse(hn::Eq(x, y), hn::And(x, y), unequal);
  return hn::IfThenElse(hn::IsNaN(y), y, most);
}

/// The smaller element; of two zeros -0 if one is.
HWY_INLINE FloatVector smaller(FloatVector x, FloatVector y) {
  const FloatVector unequal = hn::IfThenElse(hn::Lt(y, x), y, x);
  const FloatVector least = hn::IfThenElse(hn::Eq(x, y), hn::Or(x, y), unequal);
  return hn::IfThenElse(hn::IsNaN(y), y, least);
}

/// x - trunc(x / y) y of floats with |x / y| < 2^28 and finite y. A quotient that is not whole is
/// 2^-25 or more away from whole numbers, so dividing doubles never rounds to one; the product has
/// 52 bits. So both are exact.
HWY_INLINE DoubleVector rem(DoubleVector x, DoubleVector y) {
  const DoubleVector whole = hn::Trunc(hn::Div(x, y));
  return hn::CopySign(hn::NegMulAdd(whole, y, x), x);
}

/// x - trunc(x / y) y of any floats. Elements outside the range above are computed one by one.
HWY_INLINE FloatVector rem(FloatVector x, FloatVector y) {
  const Floats d;
  const hn::Rebind<float, Doubles> narrow;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  HWY_ALIGN float xs[kLanes], ys[kLanes], results[kLanes];
  hn::Store(x, d, xs);
  hn::Store(y, d, ys);
  for (std::int64_t i = 0; i < kLanes; i += kDoubles) {
    const DoubleVector r = rem(hn::PromoteTo(Doubles(), hn::Load(narrow, xs + i)),
                               hn::PromoteTo(Doubles(), hn::Load(narrow, ys + i)));
    hn::Store(hn::DemoteTo(narrow, r), narrow, results + i);
  }
  const auto is_near = hn::Lt(hn::Abs(x), hn::Mul(hn::Abs(y), hn::Set(d, 0x1p28F)));
  const auto is_easy = hn::And(is_near, hn::Lt(hn::Abs(y), hn::Set(d, kInfinity)));
  if (HWY_LIKELY(hn::AllTrue(d, is_easy))) return hn::Load(d, results);
  for (std::int64_t i = 0; i < kLanes; ++i) {
    const float far = std::fabs(ys[i]);
    if (std::fabs(xs[i]) < far * 0x1p28F && far < kInfinity) continue;
    results[i] = std::fmod(xs[i], ys[i]);
  }
  return hn::Load(d, results);
}

/// min(x, high); a NaN stays a NaN.
HWY_INLINE FloatVector at_most(FloatVector x, float high) {
  const FloatVector bound = hn::Set(Floats(), high);
  return hn::IfThenElse(hn::Gt(x, bound), bound, x);
}

/// t / (t + 2), t = e^2|x| - 1 = 2^n (e^r - 1) + (2^n - 1), which loses nothing near 0. From 10 on
/// the result is 1.
HWY_INLINE FloatVector tanh(FloatVector x) {
  const Floats d;
  const FloatVector magnitude = at_most(hn::Abs(x), 10.0F);
  const Reduced e = reduce<1, Ln2::kTwoNumbers>(hn::Add(magnitude, magnitude));
  const FloatVector power = power_of_two(e.steps);
  const FloatVector t = hn::MulAdd(power, exp_less_one(e.r), hn::Sub(power, hn::Set(d, 1.0F)));
  return hn::CopySign(hn::Div(t, hn::Add(t, hn::Set(d, 2.0F))), x);
}

/// x + x p(x^2) up to |x| = 1, above it 1 - e^-q(|x|). The polynomials are minimax of the relative
/// error of erf, 2^-29.6, and of the absolute error of erfc on [1, 4], 2^-29.8; coefficients are
/// rounded one by one. From 4 on the result is 1.
HWY_INLINE FloatVector erf(FloatVector x) {
  const Floats d;
  const FloatVector magnitude = at_most(hn::Abs(x), 4.0F);
  const FloatVector square = hn::Mul(magnitude, magnitude);
  constexpr float kNear[] = {-8.010193706e-04F, 5.188327748e-03F,  -2.685381286e-02F,
                             1.128358543e-01F,  -3.761262596e-01F, 1.283791661e-01F};
  FloatVector p = hn::Set(d, 7.853861462e-05F);
  for (const float each : kNear) p = hn::MulAdd(p, square, hn::Set(d, each));
  constexpr float kFar[] = {2.939606318e-03F, -2.180531435e-02F, 1.030373648e-01F,
                            6.382256746e-01F, 1.127040029e+00F,  3.537205339e-04F};
  FloatVector q = hn::Set(d, -1.855739101e-04F);
  for (const float each : kFar) q = hn::MulAdd(q, magnitude, hn::Set(d, each));
  const FloatVector one = hn::Set(d, 1.0F);
  const FloatVector near = hn::MulAdd(magnitude, p, magnitude);
  const FloatVector far = hn::Sub(one, exp_in_normal_range<Ln2::kTwoNumbers>(hn::Neg(q)));
  return hn::CopySign(hn::IfThenElse(hn::Gt(magnitude, one), far, near), x);
}

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

// Logarithm, sine and cosine of a vector of floats. Included once for each target, after
// vector_math-inl.h. A lane's bits depend on that lane alone.
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
  // What is left: 0 gives -inf, infinity itself, all else NaN.
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

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target

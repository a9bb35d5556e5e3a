// Elementwise kernels of one operand: out[i] = f(x[i]), equal extents and element types.
//
// All take floating types; abs, neg, sign, relu and clip also (U)Int8 to
// (U)Int64. All may run in place. A NaN gives a NaN. f is evaluated in double and rounded once;
// against the exact value the error is at most 0.501 ULP of the stored type for Float32, Float16
// and BFloat16, and for Float64 at most 4 ULP, 5 for erf, but 4 + 3 |v| for gelu and quick_gelu at
// x < 0, where the rounding of the exponent v counts |v| times. abs, neg, sign, relu, clip and the
// whole numbers of floor, ceil, round and trunc are exact, sqrt is correctly rounded.
#pragma once

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// |x|; integers wrap, so the lowest value is its own absolute value.
Result<void> abs(const View& x, const MutableView& out);
/// |x| = sqrt(re^2 + im^2) of complex elements, ComplexFP32 or ComplexFP64, as Float32: 0.501 ULP,
/// no overflow before the end. An infinite part gives +inf even where the other one is NaN. out
/// overlaps no input.
Result<void> magnitude(const View& x, const MutableView& out);

/// -x; flips the sign of zero; integers wrap, unsigned ones too.
Result<void> neg(const View& x, const MutableView& out);

/// e^x, natural logarithm, sine and cosine in radians; edge cases as in elementary.hpp.
Result<void> exp(const View& x, const MutableView& out);
Result<void> log(const View& x, const MutableView& out);
Result<void> sin(const View& x, const MutableView& out);
Result<void> cos(const View& x, const MutableView& out);

/// -1 or 1 by the sign of x; x itself where it is a zero.
Result<void> sign(const View& x, const MutableView& out);
/// Whole numbers: the next one down, up, the nearest one (of two as near the even one), the next
/// one toward zero. Results of 0 have the sign of x.
Result<void> floor(const View& x, const MutableView& out);
Result<void> ceil(const View& x, const MutableView& out);
Result<void> round(const View& x, const MutableView& out);
Result<void> trunc(const View& x, const MutableView& out);

/// Square root, correctly rounded; NaN below 0, -0 at -0.
Result<void> sqrt(const View& x, const MutableView& out);
/// 1 / sqrt(x), hyperbolic tangent, error function; edge cases as in elementary.hpp.
Result<void> rsqrt(const View& x, const MutableView& out);
Result<void> tanh(const View& x, const MutableView& out);
Result<void> erf(const View& x, const MutableView& out);

/// x > 0 ? x : +0.
Result<void> relu(const View& x, const MutableView& out);
/// 1 / (1 + e^-x).
Result<void> sigmoid(const View& x, const MutableView& out);
/// x / (1 + e^-x); at -inf the limit -0.
Result<void> silu(const View& x, const MutableView& out);
/// Tanh form: 0.5 x (1 + tanh(u)), u = c (x + d x^3), with c = 0.79788456 and d = 0.044715 each
/// rounded to Float32. Evaluated as x / (1 + e^-2u), which is the same function without the
/// cancellation at x < 0; at -inf the limit -0.
Result<void> gelu(const View& x, const MutableView& out);
/// x / (1 + e^-(c x)), c = 1.702 rounded to Float32; at -inf the limit -0.
Result<void> quick_gelu(const View& x, const MutableView& out);

/// min(max(x, low), high), where the bounds are one element each. low > high gives high; a NaN is
/// no bound.
Result<void> clip(const View& x, const View& low, const View& high, const MutableView& out);

}  // namespace mir::ref
// quick_gelu at x < 0, where the rounding of v in e^v counts |v| times.

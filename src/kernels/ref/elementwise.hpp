// Elementwise kernels of two and three operands, with NumPy broadcasting into the output's extents.
//
// Each input broadcasts to out (right-aligned, extent equal or 1). Without broadcasting of an
// input, the output may be that input (in place).
#pragma once

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// a + b, a - b, a * b, a / b; one element type for all three views, except for real operands of
/// complex arithmetic.
/// - Floating types: correctly rounded (0.5 ULP) with IEEE infinities, NaN and
///   signed zeros.
/// - (U)Int8 to (U)Int64: modulo 2^bits; division truncates toward zero, x / 0 = 0, and the lowest
///   value divided by -1 is itself.
/// - Complex types, with real numbers of any type as complex ones with an imaginary part of +0: the
///   usual formulas in double, parts rounded once. Of ComplexFP32 the result is within 0.7072, of
///   ComplexFP64 within 4 units of the last place of its magnitude.
Result<void> add(const View& a, const View& b, const MutableView& out);
Result<void> sub(const View& a, const View& b, const MutableView& out);
Result<void> mul(const View& a, const View& b, const MutableView& out);
Result<void> div(const View& a, const View& b, const MutableView& out);

/// The larger or smaller element, by the order of common/extreme.hpp: a NaN wins, -0 is below +0.
/// One floating or integer type for all three views. Exact.
Result<void> maximum(const View& a, const View& b, const MutableView& out);
Result<void> minimum(const View& a, const View& b, const MutableView& out);

/// a - trunc(a / b) b without rounding, with the sign of a, zeros included; types as above.
/// Floating: NaN where a is infinite or b is 0, a where b is infinite. Integers: the remainder of
/// div(), so a where b is 0.
Result<void> rem(const View& a, const View& b, const MutableView& out);

/// a == b and so on as byte 0 or 1. a and b: one type out of floating types, integers and Bool
/// (compared as truth values, false below true); out: Bool or UInt8. A NaN is neither equal to,
/// below nor above anything; -0 equals +0.
Result<void> equal(const View& a, const View& b, const MutableView& out);
Result<void> not_equal(const View& a, const View& b, const MutableView& out);
Result<void> less(const View& a, const View& b, const MutableView& out);
Result<void> less_equal(const View& a, const View& b, const MutableView& out);
Result<void> greater(const View& a, const View& b, const MutableView& out);
Result<void> greater_equal(const View& a, const View& b, const MutableView& out);

/// Logic of truth values as byte 0 or 1. Operands: Bool; out: Bool or UInt8.
Result<void> logical_and(const View& a, const View& b, const MutableView& out);
Result<void> logical_or(const View& a, const View& b, const MutableView& out);
Result<void> logical_xor(const View& a, const View& b, const MutableView& out);
Result<void> logical_not(const View& x, const MutableView& out);

/// cond ? a : b, all bits kept. cond: Bool or UInt8, true when not zero; a, b and out: one type
/// with one element per storage unit. Each of the three broadcasts to out.
Result<void> where(const View& cond, const View& a, const View& b, const MutableView& out);

}  // namespace mir::ref

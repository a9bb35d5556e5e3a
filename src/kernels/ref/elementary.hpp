// Elementary functions with the same bits on every machine.
//
// Only +, -, *, /, the square root and comparisons on double in a written order (plus integer
// arithmetic for the reduction of large angles): no libm call, no fused multiply-add. The double
// functions are within the stated distance of the exact value; a float function is its double
// function rounded once to nearest even, so it differs from the correctly rounded result only when
// the exact value lies within about 1e-8 ULP of a midpoint.
//
//              bound in ULP
//   function   double   method
//   exp        1        x = k ln2 + r, Taylor to r^13
//   expm1      2        the same, (2^k - 1) + 2^k (e^r - 1)
//   log        1        x = 2^k m, log m = 2 artanh((m-1)/(m+1)) as a series
//   sin, cos   1        quarter turns removed exactly, Taylor on [-pi/4, pi/4]
//   tanh       3        t / (t + 2), t = expm1(2x)
//   erf        5        series below 1, continued fraction of erfc above
//   sigmoid    3        1 / (1 + e^-x), or e^x / (1 + e^x) for x < 0
//   rsqrt      1.5      1 / sqrt(x), each correctly rounded
//
// Float results are within 0.500001 ULP. docs/elementary-errors.md lists the errors found against
// MPFR on dense and adversarial samples; a test checks them against the bounds. A NaN gives a NaN.
#pragma once

namespace mir::ref {

/// e^x. exp(+inf) = +inf, exp(-inf) = +0; overflows to +inf, underflows gradually to +0.
double exp(double x);
float exp(float x);

/// e^x - 1 without cancellation near 0; keeps the sign of zero; expm1(-inf) = -1.
double expm1(double x);

/// Natural logarithm. log(+-0) = -inf, log(x < 0) = NaN, log(+inf) = +inf, log(1) = +0.
double log(double x);
float log(float x);

/// Radians, any finite argument. An infinity gives a NaN; sin keeps the sign of zero.
double sin(double x);
float sin(float x);
double cos(double x);
float cos(float x);

/// Odd; tanh(+-inf) = +-1; keeps the sign of zero.
double tanh(double x);
float tanh(float x);

/// 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x. Odd; erf(+-inf) = +-1.
double erf(double x);
float erf(float x);

/// 1 / (1 + e^-x) without overflow: +0 at -inf, 1 at +inf.
double sigmoid(double x);

/// 1 / sqrt(x). rsqrt(+-0) = +-inf, rsqrt(x < 0) = NaN, rsqrt(+inf) = +0.
double rsqrt(double x);
float rsqrt(float x);

}  // namespace mir::ref

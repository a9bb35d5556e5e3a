// Elementary functions with the same bits on every machine.
//
// Only +, -, *, / and comparisons on double in a written order (plus integer arithmetic for the
// reduction of large angles): no libm call, no fused multiply-add. The double functions are within
// the stated distance of the exact value; a float function is its double function rounded once to
// nearest even, so it differs from the correctly rounded result only when the exact value lies
// within about 1e-8 ULP of a midpoint.
//
//              largest distance seen, in ULP
//   function   double   float        method
//   exp        0.89     0.4999999    x = k ln2 + r, Taylor to r^13
//   expm1      1.44     -            the same, (2^k - 1) + 2^k (e^r - 1)
//   log        0.83     0.4999998    x = 2^k m, log m = 2 artanh((m-1)/(m+1)) as a series
//   sin, cos   0.79     0.4999999    quarter turns removed exactly, Taylor on [-pi/4, pi/4]
//   tanh       2.30     0.4999995    t / (t + 2), t = expm1(2x)
//   erf        4.11     0.4999999    series below 1, continued fraction of erfc above
//   sigmoid    2.29     -            1 / (1 + e^-x), or e^x / (1 + e^x) for x < 0
//
// Seen over four million arguments per function (bit patterns, dense ranges, small arguments),
// against the 64-bit significand of x86 long double. The unit tests hold 0.500001 ULP for float
// and 5 ULP for double. A NaN gives a NaN.
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

}  // namespace mir::ref

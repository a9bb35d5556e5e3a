// Exponentials, logarithms, powers, sines and error functions with the same bits everywhere.
#include "kernels/ref/elementary.hpp"

#include <cfloat>

#include "kernels/ref/common/numbers_c.hpp"
#include "kernels/ref/numeric.hpp"

namespace mir::ref {

static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must not keep extra precision");

double exp(double x) {
  return c::mir_exp(x);
}
double expm1(double x) {
  return c::mir_expm1(x);
}
double log(double x) {
  return c::mir_log(x);
}
double sin(double x) {
  return c::mir_sin(x);
}
double cos(double x) {
  return c::mir_cos(x);
}
double tanh(double x) {
  return c::mir_tanh(x);
}
double erf(double x) {
  return c::mir_erf(x);
}
double sigmoid(double x) {
  return c::mir_sigmoid(x);
}
double rsqrt(double x) {
  return c::mir_rsqrt(x);
}

float exp(float x) {
  return narrow_to_float(exp(static_cast<double>(x)));
}
float log(float x) {
  return narrow_to_float(log(static_cast<double>(x)));
}
float sin(float x) {
  return narrow_to_float(sin(static_cast<double>(x)));
}
float cos(float x) {
  return narrow_to_float(cos(static_cast<double>(x)));
}
float tanh(float x) {
  return narrow_to_float(tanh(static_cast<double>(x)));
}
float erf(float x) {
  return narrow_to_float(erf(static_cast<double>(x)));
}

float rsqrt(float x) {
  return narrow_to_float(rsqrt(static_cast<double>(x)));
}

}  // namespace mir::ref

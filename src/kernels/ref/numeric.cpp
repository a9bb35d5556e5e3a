// Conversions between double and Float16, BFloat16 and the two 8-bit float types.
#include "kernels/ref/numeric.hpp"

#include "kernels/ref/common/numbers_c.hpp"

namespace mir::ref {

double widen(Half value) {
  return c::mir_of_float16(value.bits);
}
double widen(BFloat16 value) {
  return c::mir_of_bfloat16(value.bits);
}
double widen(Float8E4M3 value) {
  return c::mir_of_float8_e4m3(value.bits);
}
double widen(Float8E5M2 value) {
  return c::mir_of_float8_e5m2(value.bits);
}

Half narrow_to_half(double value) {
  return {c::mir_to_float16(value)};
}
BFloat16 narrow_to_bfloat16(double value) {
  return {c::mir_to_bfloat16(value)};
}
Float8E5M2 narrow_to_float8_e5m2(double value) {
  return {c::mir_to_float8_e5m2(value)};
}
Float8E4M3 narrow_to_float8_e4m3(double value) {
  return {c::mir_to_float8_e4m3(value)};
}

}  // namespace mir::ref

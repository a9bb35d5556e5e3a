// Evaluators of absolute values, clipping and selection.
#include "kernels/ref/elementwise.hpp"

#include "eval/evaluators.hpp"
#include "kernels/ref/unary.hpp"
#include "weights/elements.hpp"

namespace mir::eval {

Result<void> absolute(EvalCall& call) {
  const bool is_complex = info(call.operand(0).dtype()).type_class == DTypeClass::kComplex;
  return is_complex ? ref::magnitude(call.in(0), call.out()) : ref::abs(call.in(0), call.out());
}

Result<void> clip(EvalCall& call) {
  const DType dtype = call.operand(0).dtype();
  const auto low = element_of(dtype, call.number_text(key::kMinVal)),
             high = element_of(dtype, call.number_text(key::kMaxVal));
  if (!low || !high) return (low ? high : low).error();
  return ref::clip(call.in(0), call.view(*low), call.view(*high), call.out());
}

Result<void> where(EvalCall& call) {
  return ref::where(call.condition(0), call.in(1), call.in(2), call.out());
}

}  // namespace mir::eval

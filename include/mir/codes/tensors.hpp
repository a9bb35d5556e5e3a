// Diagnostic codes of tensors, their elements and the arguments that describe them.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_TENSORS(CODE)                                                              \
  CODE(5, kTensorStorage, "the shape of a tensor does not match its storage")                   \
  CODE(604, kTensorDtypeUnsupported,                                                            \
       "an element type that a tensor file or operation does not support")                      \
  CODE(607, kTensorTypeConflict, "a tensor does not have the expected element type or extents") \
  CODE(608, kTensorSpecInvalid,                                                                 \
       "an argument that names a tensor or a weight source cannot be read")                     \
  CODE(609, kElementOutOfRange, "a value that the element type cannot hold")                    \
  CODE(610, kRandomBoundInvalid, "random integers need a bound that their type can hold")

namespace mir::diag {
MIR_CODES_OF_TENSORS(MIR_DECLARE_CODE)
}

// Diagnostic codes of shape rules.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_SHAPES(CODE)                                                                \
  CODE(500, kShapeMismatch, "extents of operands and attributes do not match")                   \
  CODE(501, kRankMismatch, "an operand has a rank that the operation does not accept")           \
  CODE(502, kDTypeMismatch, "an element type that the operation does not accept here")           \
  CODE(503, kAxisOutOfRange, "an axis is outside the dimensions of the tensor")                  \
  CODE(504, kAttributeOutOfRange, "an attribute has a value that the operation does not accept") \
  CODE(505, kElementCountMismatch, "a new shape has a different number of elements")             \
  CODE(506, kAttributeMissing, "an attribute that the shape rule needs is missing")              \
  CODE(507, kResultCountMismatch, "the number of results contradicts operands and attributes")   \
  CODE(508, kConditionViolated, "an operation that breaks a condition of its declaration")

namespace mir::diag {
MIR_CODES_OF_SHAPES(MIR_DECLARE_CODE)
}

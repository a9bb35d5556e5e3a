// Diagnostic codes of attributes and operands that a rule reads.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_ATTRIBUTES(CODE)                                     \
  CODE(310, kTypeNotInferred, "no rule infers the result types of an op") \
  CODE(311, kNotATensor, "an operand is not a tensor")                    \
  CODE(312, kAttributeKind, "an attribute value of the wrong kind")       \
  CODE(315, kExtentOverflow, "an extent or an element count does not fit 63 bits")

namespace mir::diag {
MIR_CODES_OF_ATTRIBUTES(MIR_DECLARE_CODE)
}

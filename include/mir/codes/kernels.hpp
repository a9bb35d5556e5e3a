// Diagnostic codes of kernels of the operations.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_KERNELS(CODE)                                                 \
  CODE(800, kKernelDType, "a kernel does not take the element type of an operand") \
  CODE(801, kKernelShape, "ranks or extents of a kernel's operands do not match")  \
  CODE(802, kKernelAttribute, "a kernel's axis or option is outside its range")    \
  CODE(803, kIndexOutOfRange, "an index is outside the dimension it selects from")

namespace mir::diag {
MIR_CODES_OF_KERNELS(MIR_DECLARE_CODE)
}

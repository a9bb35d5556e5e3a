// Diagnostic codes of limits of memory, nesting and time.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_LIMITS(CODE) \
  CODE(4, kLimitExceeded, "a limit (nesting, memory, count) is exceeded")

namespace mir::diag {
MIR_CODES_OF_LIMITS(MIR_DECLARE_CODE)
}

// Diagnostic codes of command lines.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_USAGE(CODE) CODE(900, kUsage, "a command line that cannot be read")

namespace mir::diag {
MIR_CODES_OF_USAGE(MIR_DECLARE_CODE)
}

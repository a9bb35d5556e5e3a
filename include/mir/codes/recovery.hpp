// Diagnostic codes of facts that a dump lost.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_RECOVERY(CODE)                                                           \
  CODE(700, kLostMeaning, "a fact that a dump lost and that is neither derived nor supplied") \
  CODE(701, kGrantUnused, "a supplied fact that no operation of a dump lost")

namespace mir::diag {
MIR_CODES_OF_RECOVERY(MIR_DECLARE_CODE)
}

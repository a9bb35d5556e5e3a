// Diagnostic codes of inputs, outputs and symbols of a run.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_INPUTS(CODE)                                                    \
  CODE(818, kInputMismatch,                                                          \
       "an input whose element type or extents differ from the declared ones")       \
  CODE(819, kPortUnknown, "an input or output that does not exist or is ambiguous")  \
  CODE(820, kInputMissing, "an input without a value, or with two")                  \
  CODE(821, kSymbolConflict, "a dimension symbol with two different values")         \
  CODE(822, kSymbolUnbound, "an extent whose symbols have no value")                 \
  CODE(823, kEntryUnknown, "the graph to run does not exist or cannot be run alone") \
  CODE(830, kSymbolOutOfRange, "a dimension symbol whose value its declaration excludes")

namespace mir::diag {
MIR_CODES_OF_INPUTS(MIR_DECLARE_CODE)
}

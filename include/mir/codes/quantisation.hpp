// Diagnostic codes of quantised values.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_QUANTISATION(CODE)                                                          \
  CODE(840, kScaleMissing, "a quantised value without a scale or zero point")                    \
  CODE(841, kQuantSpecIncomplete, "a quantisation that does not define the values of its codes") \
  CODE(842, kQuantisationConflict, "one tensor with two different quantisations")                \
  CODE(843, kScaleInvalid, "a scale or zero point that does not match its quantisation")

namespace mir::diag {
MIR_CODES_OF_QUANTISATION(MIR_DECLARE_CODE)
}

// Diagnostic codes of tests of texts and commands.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_CHECKS(CODE)                                                               \
  CODE(901, kExpectationNotMet, "an expected diagnostic was not reported")                      \
  CODE(902, kUnexpectedDiagnostic, "a reported diagnostic was not expected")                    \
  CODE(903, kExpectationMalformed, "an expectation in a test text cannot be read")              \
  CODE(910, kCheckNotMet, "a text that a check line expects is not in the output")              \
  CODE(911, kForbiddenText, "a text that a check line forbids is in the output")                \
  CODE(912, kOutputDiffers, "the output of a test differs from the stored one")                 \
  CODE(913, kExitStatus, "a command of a test exits with an unexpected status")                 \
  CODE(914, kCommandLimit, "a command of a test, or the search in its output, reaches a limit") \
  CODE(915, kCheckMalformed, "a malformed line in a test text")

namespace mir::diag {
MIR_CODES_OF_CHECKS(MIR_DECLARE_CODE)
}

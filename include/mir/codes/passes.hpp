// Diagnostic codes of passes, patterns and pipelines.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_PASSES(CODE)                                                              \
  CODE(920, kPipeline, "a pipeline of passes that cannot be read or names something unknown")  \
  CODE(921, kPassClaim, "a pass or pattern that breaks its own declaration")                   \
  CODE(922, kNotConverging, "rewrites that do not converge")                                   \
  CODE(923, kIllegalOp, "an operation that a conversion cannot make legal")                    \
  CODE(924, kBadPattern, "a rewrite pattern with an error in it")                              \
  CODE(925, kClaimRefuted, "a rewrite that changes results by more than it claims")            \
  CODE(926, kNotValidated, "a rewrite that could not be tried")                                \
  CODE(927, kNotInteresting, "a file to reduce of which the test does not hold")               \
  CODE(928, kIllegalStep, "a step of a schedule that would change what an operation computes") \
  CODE(929, kNoC, "a module that has no form in C")

namespace mir::diag {
MIR_CODES_OF_PASSES(MIR_DECLARE_CODE)
}

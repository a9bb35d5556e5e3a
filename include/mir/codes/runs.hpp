// Diagnostic codes of runs.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_RUNS(CODE)                                                               \
  CODE(810, kNotExecutable, "an operation that has no kernel")                                \
  CODE(811, kResultUnknown, "the extents or the element type of a result are unknown")        \
  CODE(812, kResultMismatch, "a result whose type at run time differs from the declared one") \
  CODE(813, kParameterMissing, "a parameter that no weight source has")                       \
  CODE(814, kConstantInvalid, "a constant whose values do not match its type")                \
  CODE(815, kCacheUnnamed, "a cache that has no name for its state")                          \
  CODE(816, kCacheMismatch, "keys or values that do not match the content of their cache")    \
  CODE(817, kCacheCapacity, "a cache cannot hold the tokens that a step adds")                \
  CODE(824, kCancelled, "a run was stopped before its end")                                   \
  CODE(825, kNotAsExpected, "an output that differs from the expected tensor")                \
  CODE(826, kDiverges, "an operation whose results differ from those of another run")         \
  CODE(827, kDumpMalformed, "a dump of results with a malformed index or file")               \
  CODE(828, kStepLimit, "a program runs more steps than allowed")                             \
  CODE(829, kPackedCacheUnusable,                                                             \
       "a file of packed weights that is damaged or was written by another program")

namespace mir::diag {
MIR_CODES_OF_RUNS(MIR_DECLARE_CODE)
}

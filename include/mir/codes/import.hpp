// Diagnostic codes of configs of models.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_IMPORT(CODE)                                                        \
  CODE(624, kConfigMalformed, "a config that is not JSON, or a value of the wrong kind") \
  CODE(625, kConfigUnsupported, "a model that no family describes")                      \
  CODE(626, kConfigUnread, "a key of a config that the family does not read")            \
  CODE(627, kConfigImported, "what was made from a checkpoint")

namespace mir::diag {
MIR_CODES_OF_IMPORT(MIR_DECLARE_CODE)
}

// Diagnostic codes of tokenizers.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_TOKENIZERS(CODE)                                                         \
  CODE(620, kTokenizerMalformed, "a tokenizer file breaks a rule of its format")              \
  CODE(621, kTokenizerUnsupported, "a tokenizer needs a part that the toolkit does not have") \
  CODE(622, kTokenIdUnknown, "an id that the vocabulary does not have")                       \
  CODE(623, kTextNotTokenized, "a text that a tokenizer cannot cut into tokens")

namespace mir::diag {
MIR_CODES_OF_TOKENIZERS(MIR_DECLARE_CODE)
}

// Diagnostic codes of chat templates, generated text and saved sessions.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_GENERATION(CODE)                                                             \
  CODE(630, kTemplateMalformed, "a chat template breaks a rule of Jinja")                         \
  CODE(631, kTemplateUnsupported, "a chat template uses a part of Jinja that the toolkit lacks")  \
  CODE(632, kTemplateFailed, "a chat template raises an error for the messages that it is given") \
  CODE(633, kNotGenerative, "a module that cannot generate text")                                 \
  CODE(634, kSavedSessionMalformed, "a file of a saved session breaks a rule of its format")      \
  CODE(635, kSavedSessionOfOther, "a saved session belongs to another model")                     \
  CODE(636, kPromptsMalformed, "a file of prompts breaks a rule of its format")

namespace mir::diag {
MIR_CODES_OF_GENERATION(MIR_DECLARE_CODE)
}

// Diagnostic codes of names, types and dialects of a text.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_NAMES(CODE)                                                           \
  CODE(301, kBadDimension, "a dimension that cannot be read")                              \
  CODE(302, kUndefinedValue, "a portable module uses a value that nothing defines")        \
  CODE(303, kRedefinedValue, "a portable module defines a value twice")                    \
  CODE(304, kTypeMissing, "a value has no type and none can be inferred")                  \
  CODE(305, kUnknownAlias, "an alias that is not defined before its use")                  \
  CODE(306, kMalformedAttribute, "an attribute value that cannot be read")                 \
  CODE(307, kUnsupportedVersion, "the module's mir_version is not one this toolkit knows") \
  CODE(308, kQuotesNeeded, "text that must be quoted in a portable module")                \
  CODE(309, kTypeConflict, "a mention of a value has another type than its definition")    \
  CODE(313, kDuplicateAlias, "an alias that is defined twice")                             \
  CODE(314, kTooManyDims, "a tensor type has more than 64 dimensions")                     \
  CODE(316, kDuplicateAttribute, "an attribute list names a key twice")                    \
  CODE(317, kWrongForm, "the module is not in the requested form")                         \
  CODE(318, kTypeParameters, "a type or attribute of a dialect with wrong parameters")     \
  CODE(319, kBadDialect, "a dialect that cannot be registered")                            \
  CODE(320, kBadDeclaration, "a declaration of a dialect with an error in it")             \
  CODE(321, kNeedsVersion, "a module that needs a later version of the language")

namespace mir::diag {
MIR_CODES_OF_NAMES(MIR_DECLARE_CODE)
}

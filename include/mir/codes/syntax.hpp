// Diagnostic codes of tokens and grammar.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_SYNTAX(CODE)                                                           \
  CODE(101, kNulByte, "the text contains a NUL byte")                                       \
  CODE(102, kInvalidUtf8, "the text contains bytes that are not UTF-8")                     \
  CODE(103, kStrayCharacter, "a character that starts no token here")                       \
  CODE(104, kUnterminatedString, "a quoted string does not end on its line")                \
  CODE(105, kLogLineInText, "a terminal log line was printed into the dump")                \
  CODE(106, kUnbalancedBracket, "a bracketed token is never closed")                        \
  CODE(107, kTokenTooLong, "a token is longer than 16 MiB")                                 \
  CODE(201, kUnexpectedToken, "the grammar does not allow this token here")                 \
  CODE(202, kNestingTooDeep, "regions, lists or brackets are nested deeper than the limit") \
  CODE(203, kTextInOpPosition, "a line that is neither an operation nor a comment")         \
  CODE(204, kEmptyFile, "the file contains no module")                                      \
  CODE(205, kTrailingText, "text follows the last module")                                  \
  CODE(206, kNotFormatted, "a text that is not in the canonical layout")                    \
  CODE(207, kMissingBrace, "the opening brace of a body is missing")

namespace mir::diag {
MIR_CODES_OF_SYNTAX(MIR_DECLARE_CODE)
}

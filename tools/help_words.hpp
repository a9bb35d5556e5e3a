// Answers of `mllm help WORD` to words that are neither tools nor codes.
#pragma once

#include <string>
#include <string_view>

namespace mir::tools {

/// Returns the full name of the op that is called `word`, which may lack its dialect, its device
/// and the end "Op", in any case of its letters. Empty if there is none.
std::string op_called(std::string_view word);

/// The commands, options, passes and ops that have `word` in their names or descriptions, in any
/// case of its letters. Empty if there are none.
std::string uses_of(std::string_view word);

/// Returns the part of uses_of() that has `word` in names, without the op or pass `shown`.
std::string others_named(std::string_view word, std::string_view shown);

/// "; did you mean 'tile'?" for a word that is nearly the name of a tool, a pass or an op.
std::string named_nearly(std::string_view word);

}  // namespace mir::tools

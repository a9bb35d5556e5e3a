// Regular expressions of tokenizer files in the syntax of PCRE2.
#pragma once

#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"

namespace mir::tokenizer {

/// Rewrites an expression in Oniguruma's syntax, which tokenizer files use, for PCRE2 with UTF,
/// UCP and MULTILINE. White space, word characters, scripts, nested classes and their intersections
/// then have Oniguruma's meaning. Refuses what has no equal with kTokenizerUnsupported.
Result<std::string> pcre2_syntax(std::string_view expression);

}  // namespace mir::tokenizer

// Texts for people leave out what reading finds again, and name what they repeat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/context/language_versions.hpp"
#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/parse.hpp"

namespace mir {

/// The text in canonical layout without types that reading it finds again, with aliases for
/// repeated types and quantisation specs, and without `[symbol:w]` on registers of `@w`. Portable
/// modules that use aliases of types or lack such symbols get version 2. Modules have neither if
/// `version` is lower, or if they are of version 1 and would mean something else in version 2. No
/// value after errors; `context` has the dialects.
std::optional<std::string> short_text(const SyntaxTree& tree, IRContext& context,
                                      Diagnostics& diagnostics,
                                      std::int64_t version = kLatestVersion);

/// The text in canonical layout with the type of each operand and result, without aliases. Portable
/// modules of version 2 that used one of the forms of short_text get the lowest version that they
/// need. No value after errors.
std::optional<std::string> full_text(const SyntaxTree& tree, IRContext& context,
                                     Diagnostics& diagnostics);

}  // namespace mir

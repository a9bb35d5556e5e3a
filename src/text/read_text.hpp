// Reads modules together with what printing them needs of their text.
#pragma once

#include <optional>
#include <vector>

#include "mir/module.hpp"
#include "syntax/source_tokens.hpp"

namespace mir {

/// Reads the modules of the text that `source` is the index of, which has no units yet. Each unit
/// of the tree goes when it is read. No value if the text has an error of syntax: `diagnostics`
/// then has those alone.
std::optional<std::vector<Module*>> read_whole_modules(SourceTokens& source, IRContext& context,
                                                       Diagnostics& diagnostics);

}  // namespace mir

// The text that mllm-fmt makes of a file.
#pragma once

#include <string>

#include "format/settings.hpp"
#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/parse.hpp"

namespace mir::tools {

/// `tree` as the options ask. `context` has the source of the tree and gets the dialects if types
/// are inferred. Reports what keeps types from being inferred to `diagnostics`; the text is then
/// empty.
Result<std::string> new_text(const SyntaxTree& tree, const FmtSettings& settings,
                             IRContext& context, Diagnostics& diagnostics);

}  // namespace mir::tools

// Readable listings of tokens and trees.
#pragma once

#include <string>

#include "mir/parse.hpp"

namespace mir {

/// One token a line: `line:column Kind text`.
std::string list_tokens(const SyntaxTree& tree);

/// The tree without positions, comments and spacing, one part a line: texts that differ only in
/// white space give equal listings.
std::string list_syntax(const SyntaxTree& tree);

}  // namespace mir

// The syntax of chat templates.
#pragma once

#include "chat/node.hpp"

namespace mir::chat {

/// Levels of nodes of a template.
inline constexpr std::size_t kMostNesting = 200;

/// Parses a template, which must be UTF-8. Returns the block of its statements; null after
/// reporting the first mistake, or the first part that is not supported.
NodePtr parse_template(const SourceFile& file, Diagnostics& diagnostics);

}  // namespace mir::chat

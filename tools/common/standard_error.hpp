// Standard error, which may be closed or full: no tool fails because of it.
#pragma once

#include <string_view>

namespace mir::tools {

/// Writes as much as possible. If nothing can be written, only the exit code tells of the error.
/// Nothing in `text` but line ends and tabs can drive a terminal.
void write_error_text(std::string_view text);
/// Writes text with controls of our own, such as colours, in which others' text is visible()
/// already.
void write_styled_error_text(std::string_view text);

}  // namespace mir::tools

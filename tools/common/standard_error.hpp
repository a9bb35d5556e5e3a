// Standard error, which may be closed or full: no tool fails because of it.
#pragma once

#include <string_view>

namespace mir::tools {

/// Writes what can be written. Where nothing can, the exit code says what is left to say. Nothing
/// in `text` but line ends and tabs can drive a terminal.
void write_error_text(std::string_view text);
/// Writes text with controls of our own, such as colours, in which others' text is visible()
/// already.
void write_styled_error_text(std::string_view text);

/// Gives standard input, output and error a file each where they are closed, so that no file that
/// a tool opens takes their place and gets what is meant for them.
void open_standard_files();

}  // namespace mir::tools

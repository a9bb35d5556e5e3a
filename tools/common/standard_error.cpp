// Writes to standard error.
#include "standard_error.hpp"

#include <cstdio>

#include "support/terminal_text.hpp"

namespace mir::tools {

void write_error_text(std::string_view text) {
  write_styled_error_text(visible_lines(text));
}

void write_styled_error_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace mir::tools

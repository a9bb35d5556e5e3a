// Writes to standard error, and opens closed standard streams at the start.
#include "standard_error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "support/terminal_text.hpp"

namespace mir::tools {

void write_error_text(std::string_view text) {
  write_styled_error_text(visible_lines(text));
}

void write_styled_error_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void open_standard_files() {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file) {
    const bool is_open = ::fcntl(file, F_GETFD) != -1;
    // The lowest number that is free is this one. A write to what is open for reading fails, as it
    // does to what is closed.
    if (!is_open && ::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY) != file) return;
  }
}

}  // namespace mir::tools

// Prints reports to standard output, made visible or styled for terminals.
#include "report_text.hpp"

#include "support/platform/streams.hpp"

namespace mir::tools {

bool shows_documents() {
  return is_terminal(kStandardOutput);
}

void print_styled(std::string_view text) {
  fmt::print("{}", text);
}

void print_document(std::string_view text) {
  print_styled(shows_documents() ? visible_lines(text) : std::string(text));
}

void print_report(std::string_view text) {
  print_styled(visible_lines(text));
}

}  // namespace mir::tools

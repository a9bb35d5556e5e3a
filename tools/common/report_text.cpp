#include "report_text.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "support/terminal_text.hpp"

namespace mir::tools {

void print_document(std::string_view text) {
  fmt::print("{}", text);
}

void print_report(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    append_visible(shown, text.substr(0, end));
    if (end < text.size()) shown += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  print_document(shown);
}

}  // namespace mir::tools

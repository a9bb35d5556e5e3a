// Replaces placeholders in command lines.
#include "command.hpp"

#include <algorithm>

namespace mir::tools {

std::string fill_placeholders(std::string_view command, std::vector<Placeholder> placeholders) {
  placeholders.push_back({'%', "%"});
  std::string line;
  while (!command.empty()) {
    const char next = command.size() > 1 && command.front() == '%' ? command[1] : '\0';
    const auto found = std::ranges::find(placeholders, next, &Placeholder::letter);
    if (found == placeholders.end()) {
      line += command.front();
      command.remove_prefix(1);
    } else {
      line += found->value;
      command.remove_prefix(2);
    }
  }
  return line;
}

}  // namespace mir::tools

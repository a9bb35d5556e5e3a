// Placeholders in command lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/platform/command.hpp"

namespace mir::tools {

/// A letter and the text that replaces `%` with this letter.
struct Placeholder {
  char letter;
  std::string_view value;
};

/// Replaces placeholders in a command. `%%` becomes `%`; any other `%` is kept.
std::string fill_placeholders(std::string_view command, std::vector<Placeholder> placeholders);

}  // namespace mir::tools

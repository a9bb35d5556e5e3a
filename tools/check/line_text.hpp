// Lines of texts.
#pragma once

#include <algorithm>
#include <string_view>

namespace mir::tools {

/// The next line of `rest` without its line end, taken off it.
inline std::string_view take_line(std::string_view& rest) {
  const auto end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Returns `text` without blanks at its ends, at its place in memory.
inline std::string_view without_blanks(std::string_view text) {
  const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

}  // namespace mir::tools

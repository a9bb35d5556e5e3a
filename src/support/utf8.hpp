// Well-formed UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace mir {

/// First byte that is not part of well-formed UTF-8, or the end.
const char* find_invalid_utf8(const char* at, const char* end);

/// The text with U+FFFD for each byte that is not part of well-formed UTF-8.
std::string with_valid_utf8(std::string_view text);

inline bool is_utf8(std::string_view text) {
  const char* end = text.data() + text.size();
  return find_invalid_utf8(text.data(), end) == end;
}

}  // namespace mir

// Patterns for names: `*` matches any text, `?` one character.
#pragma once

#include <cstddef>
#include <string_view>

namespace mir {

/// True if the pattern matches the whole text. The time grows at most with the product of their
/// lengths.
constexpr bool fits_wildcards(std::string_view pattern, std::string_view text) {
  // The last `*` and the end of its match: if the rest does not match, the `*` takes one more.
  std::size_t p = 0, t = 0, star = pattern.npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

}  // namespace mir

// Patterns that people write for names: `*` stands for any text, `?` for one character.
#pragma once

#include <cstddef>
#include <string_view>

namespace mir {

/// Whether `*` and `?` of the pattern can be filled in so that it is the text; in time that grows
/// with the product of their lengths at most.
constexpr bool fits_wildcards(std::string_view pattern, std::string_view text) {
  // The last `*` and where what it stands for ends: where the rest does not fit, it takes one more.
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

// White space and comments between tokens.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "mir/parse.hpp"

namespace mir {

/// Calls `take(text, own_line)` for each comment of a gap; `at_start` tells whether the gap begins
/// the text.
template <class Take>
void for_each_comment(std::string_view gap, bool at_start, Take take) {
  bool own_line = at_start;
  while (true) {
    const std::size_t slashes = gap.find('/');
    if (slashes == gap.npos) return;
    own_line |= gap.substr(0, slashes).find('\n') != gap.npos;
    gap.remove_prefix(slashes);
    const std::size_t end = std::min(gap.find('\n'), gap.size());
    take(gap.substr(0, end), own_line);
    gap.remove_prefix(end);
  }
}

/// Calls `take(gap, kind, text)` for every token of the tree in order, then `end(gap)` with what
/// follows the last.
template <class Take, class End>
void for_each_token(const SyntaxTree& tree, Take take, End end) {
  const std::string_view text = tree.file().text();
  std::size_t done = 0;
  for (const Unit& unit : tree.units()) {
    const std::size_t base = unit.base() - tree.file().base();
    for (const Token& token : unit.tokens()) {
      const std::size_t begin = base + token.offset;
      take(text.substr(done, begin - done), token.kind(), text.substr(begin, token.length()));
      done = begin + token.length();
    }
  }
  end(text.substr(done));
}

}  // namespace mir

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

/// Calls `take(gap, kind, text)` for every token of a unit in order. `done` is the end of the token
/// before, which becomes that of the last.
template <class Take>
void for_each_token(const SourceFile& file, const Unit& unit, std::size_t& done, Take& take) {
  const std::string_view text = file.text();
  const std::size_t base = unit.base() - file.base();
  for (const Token& token : unit.tokens()) {
    const std::size_t begin = base + token.offset;
    take(text.substr(done, begin - done), token.kind(), text.substr(begin, token.length()));
    done = begin + token.length();
  }
}

/// Like for_each_token() of a unit, for a whole tree; `end(gap)` gets what follows its last token.
template <class Take, class End>
void for_each_token(const SyntaxTree& tree, Take take, End end) {
  std::size_t done = 0;
  for (const Unit& unit : tree.units()) for_each_token(tree.file(), unit, done, take);
  end(tree.file().text().substr(done));
}

}  // namespace mir

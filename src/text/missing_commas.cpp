// Finds attributes that run into each other because a comma is missing.
#include "text/missing_commas.hpp"

#include <algorithm>

#include "support/characters.hpp"
#include "syntax/spellings.hpp"
#include "syntax/text_literal.hpp"

namespace mir {

namespace {

constexpr std::string_view kBlankCharacters = " \t";

struct LaterKey {
  std::size_t gap = 0;  ///< the blanks before it
  std::string_view key;
};

/// `key:` after blanks, outside quotes.
std::vector<LaterKey> later_keys(std::string_view text) {
  std::vector<LaterKey> keys;
  bool in_quotes = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') in_quotes = !in_quotes;
    if (in_quotes || kBlankCharacters.find(text[at]) == kBlankCharacters.npos) continue;
    const std::size_t begin = text.find_first_not_of(kBlankCharacters, at);
    if (begin == text.npos) break;
    const std::size_t end = std::min(text.find_first_not_of(kNameCharacters, begin), text.size());
    const std::size_t colon = text.find_first_not_of(kBlankCharacters, end);
    if (end != begin && colon != text.npos && text[colon] == ':') {
      keys.push_back({at, text.substr(begin, end - begin)});
    }
    at = begin - 1;
  }
  return keys;
}

bool is_literal(std::string_view text) {
  return text == "true" || text == "false" || text == "null" || read_integer(text) ||
         is_float_text(text);
}

}  // namespace

std::vector<std::size_t> missing_commas(std::string_view text, const OpRow* row) {
  const std::vector<LaterKey> keys = later_keys(text);
  if (keys.empty()) return {};
  const auto is_declared = [&](const LaterKey& each) {
    return row != nullptr &&
           std::ranges::find(row->attributes, each.key, &AttrRow::name) != row->attributes.end();
  };
  if (!is_literal(text.substr(0, keys.front().gap)) && !std::ranges::all_of(keys, is_declared)) {
    return {};
  }
  std::vector<std::size_t> gaps;
  for (const LaterKey& each : keys) gaps.push_back(each.gap);
  return gaps;
}

}  // namespace mir

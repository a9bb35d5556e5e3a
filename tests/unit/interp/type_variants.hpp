// Modules with other element types than their text has.
#pragma once

#include <cctype>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mir/tensor.hpp"

namespace mir::test {

/// The text with each word `from` as `to`.
inline std::string with_word(std::string text, std::string_view from, std::string_view to) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at)) {
    const std::size_t end = at + from.size();
    const bool is_whole =
        (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    if (is_whole) text.replace(at, from.size(), to);
    at += is_whole ? to.size() : from.size();
  }
  return text;
}

inline std::vector<std::string> types_in(const std::string& text) {
  std::vector<std::string> found;
  for (const DTypeInfo& type : dtype_table()) {
    if (with_word(text, type.name, "") != text) found.emplace_back(type.name);
  }
  return found;
}

/// The text with the element type of one value replaced wherever it is mentioned.
inline std::string with_value_type(const std::string& text, const std::string& value,
                                   std::string_view to) {
  static const std::regex kType("(%[\\w.]+:tensor<\\[[^\\]]*\\], )(\\w+)");
  std::string out;
  auto from = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), kType), end; it != end; ++it) {
    const std::smatch& match = *it;
    if (!match.str().starts_with(value + ":")) continue;
    out.append(from, match[2].first).append(to);
    from = match[2].second;
  }
  return out.append(from, text.cend());
}

inline std::set<std::string> values_in(const std::string& text) {
  static const std::regex kValue("%[\\w.]+(?=:tensor)");
  return {std::sregex_token_iterator(text.begin(), text.end(), kValue),
          std::sregex_token_iterator()};
}

/// With another type for one of the types, or for one value.
inline std::set<std::string> variants(const std::string& text) {
  std::set<std::string> all;
  const std::vector<std::string> types = types_in(text);
  const std::set<std::string> values = values_in(text);
  for (const DTypeInfo& to : dtype_table()) {
    for (const std::string& type : types) all.insert(with_word(text, type, to.name));
    for (const std::string& value : values) all.insert(with_value_type(text, value, to.name));
  }
  all.erase(text);
  return all;
}

}  // namespace mir::test

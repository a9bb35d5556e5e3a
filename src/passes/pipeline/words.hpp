// Words of a pipeline's text.
#pragma once

#include <string_view>
#include <utility>

namespace mir::pipeline_text {

/// Marks, each a token of its own.
inline constexpr std::string_view kMarks = ",(){}[]=:@";

/// True if a character needs no quotes in a word.
constexpr bool is_plain(char c) {
  return static_cast<unsigned char>(c) > ' ' && c != '\x7f' && c != '"' && c != '\\' &&
         kMarks.find(c) == kMarks.npos;
}

/// True if a word needs no quotes. One that begins like a comment does.
constexpr bool is_plain(std::string_view word) {
  for (const char c : word) {
    if (!is_plain(c)) return false;
  }
  return !word.empty() && word.find("//") == word.npos;
}

/// The parts of `key=value`, where the value has no `=`.
constexpr std::pair<std::string_view, std::string_view> key_and_value(std::string_view text) {
  const auto at = text.rfind('=');
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace mir::pipeline_text

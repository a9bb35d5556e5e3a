// Code points of UTF-8 text as Python's strings count them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mir::chat {

/// The code point at a byte of well-formed UTF-8, and the number of its bytes.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
};
CodePoint code_point_at(std::string_view text, std::size_t at);
void append_utf8(std::string& text, char32_t code_point);

/// Number of code points.
std::size_t count_code_points(std::string_view text);
/// Calls a function with the text of each code point, in order.
template <class Function>
void for_each_code_point(std::string_view text, const Function& function) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view each = text.substr(at, code_point_at(text, at).bytes);
    function(each);
    at += each.size();
  }
}

/// Python's str.isspace for one code point.
bool is_space(char32_t code_point);

/// The text without white space at its ends, or without the code points of `characters`.
std::string_view strip_left(std::string_view text, const std::string* characters = nullptr);
std::string_view strip_right(std::string_view text, const std::string* characters = nullptr);

/// The text in the other case, code point by code point, by Unicode's simple mappings; a sharp s
/// becomes SS.
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
/// Python's str.capitalize and str.title.
std::string capitalized(std::string_view text);
std::string titled(std::string_view text);

}  // namespace mir::chat

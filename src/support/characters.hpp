// Classes of ASCII characters, in any locale.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace mir {

/// The characters of labels, for searches: digits, `_`, letters, `.$-/`.
inline constexpr std::string_view kLabelCharacters =
    "0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.$-/";
/// The characters of names of values and symbols that need no quotes: all of these but `/`.
inline constexpr std::string_view kNameCharacters = kLabelCharacters.substr(0, 66);
/// The characters of words: digits, `_` and letters.
inline constexpr std::string_view kWordCharacters = kLabelCharacters.substr(0, 63);
inline constexpr std::string_view kDigits = kLabelCharacters.substr(0, 10);

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/// True for letters, digits and the characters of `others`.
constexpr bool is_name_character(char c, std::string_view others = "_") {
  return is_letter(c) || is_digit(c) ||
         std::ranges::any_of(others, [c](char other) { return c == other; });
}
/// True for a word of letters, digits and `_` that begins with no digit.
constexpr bool is_identifier(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_name_character(c); });
}
/// True for a number of digits alone; false for the empty text.
constexpr bool is_decimal(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

/// Returns a text with small letters for capitals.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}
/// Returns the letters and digits of a text, in lower case.
inline std::string squashed(std::string_view text) {
  std::string letters = lower_case(text);
  std::erase_if(letters, [](char c) { return !is_letter(c) && !is_digit(c); });
  return letters;
}

}  // namespace mir

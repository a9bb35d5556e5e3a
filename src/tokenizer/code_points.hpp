// Code points of well-formed UTF-8 and their classes in Unicode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mir::tokenizer {

struct CodePoint {
  char32_t value = 0;
  std::uint32_t size = 0;  ///< bytes in UTF-8
};

/// The number of bytes of the code point that begins with this byte.
inline std::uint32_t code_point_size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// The code point at `at`, which must begin one in well-formed UTF-8.
CodePoint code_point_at(std::string_view text, std::size_t at);
/// The code point that ends before `end`, which is not 0.
CodePoint code_point_before(std::string_view text, std::size_t end);
/// Number of code points.
std::size_t count_code_points(std::string_view text);
void append_utf8(std::string& out, char32_t value);

/// True for White_Space, which is listed here: regular expression engines differ.
bool is_white_space(char32_t value);
/// True for letters, marks, decimal numbers, letter numbers, connectors and joiners, and for the
/// letters in circles.
bool is_word(char32_t value);
/// True for the categories Nd, Nl and No.
bool is_numeric(char32_t value);
/// True for the categories P.
bool is_punctuation(char32_t value);
/// True for ASCII punctuation with its symbols and for the categories P.
bool is_bert_punctuation(char32_t value);
/// True for the categories Cc, Cf, Co and Cs.
bool is_other(char32_t value);
/// True for the category Mn.
bool is_nonspacing_mark(char32_t value);
/// True for the categories M.
bool is_mark(char32_t value);
/// True for the ideographs that BERT separates.
bool is_bert_ideograph(char32_t value);

/// Appends the lower case of one code point, which does not depend on its neighbours.
void append_lower_case(std::string& out, char32_t value);

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
/// Returns the text in a normal form. Takes time in proportion to its size, but for long runs of
/// marks, which are sorted.
std::string normalized(std::string_view text, NormalForm form);

/// The end of the grapheme cluster that begins at `begin`.
std::size_t grapheme_end(std::string_view text, std::size_t begin);

}  // namespace mir::tokenizer

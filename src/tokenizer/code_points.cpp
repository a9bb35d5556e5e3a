// Classes, case and normal forms of code points by the tables of utf8proc.
#include "tokenizer/code_points.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

namespace mir::tokenizer {
namespace {

utf8proc_category_t category(char32_t value) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(value));
}

/// Puts the decomposition of a code point at the end of `points`.
void decompose(std::vector<utf8proc_int32_t>& points, char32_t value, bool is_compatible) {
  constexpr std::size_t kLongest = 32;  // the longest decomposition has 18 code points
  std::array<utf8proc_int32_t, kLongest> parts{};
  int boundary = UTF8PROC_BOUNDCLASS_START;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_STABLE |
                                                      (is_compatible ? UTF8PROC_COMPAT : 0));
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(value), parts.data(),
                                             kLongest, options, &boundary);
  if (count <= 0 || static_cast<std::size_t>(count) > kLongest) {
    points.push_back(static_cast<utf8proc_int32_t>(value));
    return;
  }
  points.insert(points.end(), parts.begin(), parts.begin() + count);
}

int combining_class(utf8proc_int32_t value) {
  return utf8proc_get_property(value)->combining_class;
}

/// Sorts each run of marks by its classes.
void order_marks(std::vector<utf8proc_int32_t>& points) {
  for (auto at = points.begin(); at != points.end();) {
    if (combining_class(*at) == 0) {
      ++at;
      continue;
    }
    const auto end =
        std::find_if(at, points.end(), [](auto each) { return combining_class(each) == 0; });
    std::stable_sort(at, end,
                     [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    at = end;
  }
}

/// Normalises a part that no code point outside of it composes with.
void append_normalized(std::string& out, std::string_view part, NormalForm form) {
  std::vector<utf8proc_int32_t> points;
  const bool is_compatible = form == NormalForm::kNfkc || form == NormalForm::kNfkd;
  for (std::size_t at = 0; at < part.size();) {
    const CodePoint each = code_point_at(part, at);
    at += each.size;
    decompose(points, each.value, is_compatible);
  }
  order_marks(points);
  auto count = static_cast<utf8proc_ssize_t>(points.size());
  if (form == NormalForm::kNfc || form == NormalForm::kNfkc) {
    count = utf8proc_normalize_utf32(
        points.data(), count, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  }
  for (utf8proc_ssize_t i = 0; i < count; ++i)
    append_utf8(out, static_cast<char32_t>(points[static_cast<std::size_t>(i)]));
}

bool is_ascii(char byte) {
  return static_cast<unsigned char>(byte) < 0x80;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[at + i]));
  };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {((lead & 0x1F) << 6) | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) return {((lead & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F), 3};
  return {
      ((lead & 0x07) << 18) | ((byte(1) & 0x3F) << 12) | ((byte(2) & 0x3F) << 6) | (byte(3) & 0x3F),
      4};
}

CodePoint code_point_before(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return code_point_at(text, begin);
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

void append_utf8(std::string& out, char32_t value) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | (value >> 6));
    put(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    put(0xE0 | (value >> 12));
    put(0x80 | ((value >> 6) & 0x3F));
    put(0x80 | (value & 0x3F));
  } else {
    put(0xF0 | (value >> 18));
    put(0x80 | ((value >> 12) & 0x3F));
    put(0x80 | ((value >> 6) & 0x3F));
    put(0x80 | (value & 0x3F));
  }
}

bool is_white_space(char32_t value) {
  if (value < 0x80) return value == ' ' || (value >= 9 && value <= 13);
  return value == 0x85 || value == 0xA0 || value == 0x1680 ||
         (value >= 0x2000 && value <= 0x200A) || value == 0x2028 || value == 0x2029 ||
         value == 0x202F || value == 0x205F || value == 0x3000;
}

bool is_word(char32_t value) {
  if (value < 0x80)
    return (value >= 'a' && value <= 'z') || (value >= 'A' && value <= 'Z') ||
           (value >= '0' && value <= '9') || value == '_';
  switch (category(value)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      // Joiners, and the letters in circles and squares, which are symbols that are alphabetic.
      return value == 0x200C || value == 0x200D || (value >= 0x24B6 && value <= 0x24E9) ||
             (value >= 0x1F130 && value <= 0x1F149) || (value >= 0x1F150 && value <= 0x1F169) ||
             (value >= 0x1F170 && value <= 0x1F189);
  }
}

bool is_numeric(char32_t value) {
  if (value < 0x80) return value >= '0' && value <= '9';
  const auto kind = category(value);
  return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL ||
         kind == UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(char32_t value) {
  switch (category(value)) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return true;
    default:
      return false;
  }
}

bool is_bert_punctuation(char32_t value) {
  if (value < 0x80)
    return (value >= '!' && value <= '/') || (value >= ':' && value <= '@') ||
           (value >= '[' && value <= '`') || (value >= '{' && value <= '~');
  return is_punctuation(value);
}

bool is_other(char32_t value) {
  switch (category(value)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
      return true;
    default:
      return false;
  }
}

bool is_nonspacing_mark(char32_t value) {
  return value >= 0x300 && category(value) == UTF8PROC_CATEGORY_MN;
}

bool is_mark(char32_t value) {
  if (value < 0x300) return false;
  const auto kind = category(value);
  return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_MC ||
         kind == UTF8PROC_CATEGORY_ME;
}

bool is_bert_ideograph(char32_t value) {
  return (value >= 0x4E00 && value <= 0x9FFF) || (value >= 0x3400 && value <= 0x4DBF) ||
         (value >= 0x20000 && value <= 0x2A6DF) || (value >= 0x2A700 && value <= 0x2B73F) ||
         (value >= 0x2B740 && value <= 0x2B81F) || (value >= 0x2B920 && value <= 0x2CEAF) ||
         (value >= 0xF900 && value <= 0xFAFF) || (value >= 0x2F800 && value <= 0x2FA1F);
}

void append_lower_case(std::string& out, char32_t value) {
  constexpr char32_t kCapitalIWithDot = 0x130;  // the only one whose lower case has two
  constexpr char32_t kDotAbove = 0x307;
  if (value == kCapitalIWithDot) {
    out += 'i';
    append_utf8(out, kDotAbove);
    return;
  }
  append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(value))));
}

std::string normalized(std::string_view text, NormalForm form) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto* const foreign = std::find_if_not(text.data() + at, text.data() + text.size(),
                                                 [](char byte) { return is_ascii(byte); });
    const auto begin = static_cast<std::size_t>(foreign - text.data());
    if (begin == text.size()) {
      out += text.substr(at);
      break;
    }
    // ASCII composes with marks that follow, never with what precedes.
    const std::size_t part = begin > at ? begin - 1 : begin;
    out += text.substr(at, part - at);
    const auto* const after =
        std::find_if(foreign, text.data() + text.size(), [](char byte) { return is_ascii(byte); });
    at = static_cast<std::size_t>(after - text.data());
    append_normalized(out, text.substr(part, at - part), form);
  }
  return out;
}

std::size_t grapheme_end(std::string_view text, std::size_t begin) {
  CodePoint last = code_point_at(text, begin);
  std::size_t at = begin + last.size;
  utf8proc_int32_t state = 0;
  while (at < text.size()) {
    const CodePoint each = code_point_at(text, at);
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last.value),
                                         static_cast<utf8proc_int32_t>(each.value), &state))
      break;
    last = each;
    at += each.size;
  }
  return at;
}

}  // namespace mir::tokenizer

// Quotes and unquotes strings, and reads and writes numbers.
#include "syntax/text_literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "mir/parse.hpp"
#include "support/characters.hpp"

namespace mir {

namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

/// Four hexadecimal digits at `at`.
std::optional<std::uint32_t> read_hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  std::uint32_t code = 0;
  const char* first = text.data() + at;
  const auto [end, error] = std::from_chars(first, first + 4, code, 16);
  if (error != std::errc() || end != first + 4) return std::nullopt;
  return code;
}

}  // namespace

std::optional<std::string> unquote(std::string_view quoted) {
  if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"') return std::nullopt;
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (const auto which = kEscapes.find(text[i]); which != kEscapes.npos) {
      out += kMeanings[which];
    } else if (text[i] == 'u') {
      auto code = read_hex4(text, i + 1);
      if (!code) return std::nullopt;
      i += 4;
      if (*code >= 0xd800 && *code < 0xdc00 && text.substr(i + 1, 2) == "\\u") {
        const auto low = read_hex4(text, i + 3);
        if (!low || *low < 0xdc00 || *low > 0xdfff) return std::nullopt;
        code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
        i += 6;
      }
      if (*code >= 0xd800 && *code < 0xe000) return std::nullopt;
      append_utf8(out, *code);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out += '"';
}

std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == text.npos) text += ".0";
  return text;
}

bool is_bare_word(std::string_view text) {
  if (text.empty() || text == "true" || text == "false" || text == "null") return false;
  if (!is_letter(text.front()) && text.front() != '_') return false;
  return std::ranges::all_of(text, [](char c) { return is_name_character(c, "_./-"); }) &&
         text.find("//") == text.npos && text != "inf" && text != "nan";
}

}  // namespace mir

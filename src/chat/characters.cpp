// Code points, white space and case as Python's strings have them.
#include "chat/characters.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

namespace mir::chat {
namespace {

bool is_among(std::string_view character, const std::string* characters) {
  if (characters == nullptr) return is_space(code_point_at(character, 0).value);
  return characters->find(character) != std::string::npos;
}

char32_t upper(char32_t c) {
  return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
}
char32_t lower(char32_t c) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

/// True for letters that have a case, after which a title has small letters.
bool is_cased(char32_t c) {
  return upper(c) != c || lower(c) != c;
}

template <class Map>
std::string mapped(std::string_view text, const Map& map) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    append_utf8(result, map(point.value));
    at += point.bytes;
  }
  return result;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const std::uint32_t first = byte(0);
  if (first < 0xC0) return {first, 1};
  if (first < 0xE0) return {(first & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (first < 0xF0) return {(first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F),
          4};
}

void append_utf8(std::string& text, char32_t c) {
  const auto add = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0 | c >> 6);
    add(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    add(0xE0 | c >> 12);
    add(0x80 | (c >> 6 & 0x3F));
    add(0x80 | (c & 0x3F));
  } else {
    add(0xF0 | c >> 18);
    add(0x80 | (c >> 12 & 0x3F));
    add(0x80 | (c >> 6 & 0x3F));
    add(0x80 | (c & 0x3F));
  }
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char each) { return (each & 0xC0) != 0x80; }));
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::string_view strip_left(std::string_view text, const std::string* characters) {
  while (!text.empty()) {
    const std::size_t bytes = code_point_at(text, 0).bytes;
    if (!is_among(text.substr(0, bytes), characters)) break;
    text.remove_prefix(bytes);
  }
  return text;
}

std::string_view strip_right(std::string_view text, const std::string* characters) {
  while (!text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (text[begin] & 0xC0) == 0x80) --begin;
    if (!is_among(text.substr(begin), characters)) break;
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

std::string to_upper(std::string_view text) {
  std::string result;
  for_each_code_point(text, [&](std::string_view each) {
    // The one letter of everyday text whose capital form is two letters.
    constexpr char32_t kSharpS = 0xDF;
    const char32_t c = code_point_at(each, 0).value;
    if (c == kSharpS) {
      result += "SS";
    } else {
      append_utf8(result, upper(c));
    }
  });
  return result;
}

std::string to_lower(std::string_view text) {
  return mapped(text, lower);
}

std::string capitalized(std::string_view text) {
  bool is_first = true;
  return mapped(text, [&](char32_t c) {
    const bool raises = std::exchange(is_first, false);
    return raises ? upper(c) : lower(c);
  });
}

std::string titled(std::string_view text) {
  bool is_inside = false;
  return mapped(text, [&](char32_t c) {
    const bool lowers = std::exchange(is_inside, is_cased(c));
    return lowers ? lower(c) : upper(c);
  });
}

}  // namespace mir::chat

// Decodes UTF-8 by code point, escapes control characters and measures terminal columns.
#include "support/terminal_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace mir {

namespace {

struct CodePoint {
  char32_t value;
  std::uint32_t length;
  bool valid;
};

/// The code point at `at`, which is inside `text`; one invalid byte when it is not UTF-8.
CodePoint decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const std::uint32_t lead = byte(at);
  if (lead < 0x80) return {lead, 1, true};
  constexpr CodePoint kInvalid{0xFFFD, 1, false};
  const std::uint32_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return kInvalid;
  char32_t value = lead & (0x7Fu >> length);
  for (std::uint32_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return kInvalid;
    value = value << 6 | (byte(at + i) & 0x3F);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[length] || value > 0x10FFFF || surrogate) return kInvalid;
  return {value, length, true};
}

/// The code point that ends at `end`, which is not 0.
CodePoint decode_back(std::string_view text, std::size_t end) {
  for (std::uint32_t length = 1; length <= std::min<std::size_t>(end, 4); ++length) {
    const CodePoint found = decode(text, end - length);
    if (found.valid && found.length == length) return found;
  }
  return {0xFFFD, 1, false};
}

struct CodePoints {
  char32_t first;
  char32_t last;
};

template <std::size_t N>
bool contains(const CodePoints (&ranges)[N], char32_t value) {
  return std::ranges::any_of(
      ranges, [&](const CodePoints& range) { return value >= range.first && value <= range.last; });
}

/// Controls, line separators, marks that reorder or hide text.
constexpr CodePoints kEscaped[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x61C, 0x61C},
                                   {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
                                   {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
constexpr CodePoints kCombining[] = {{0x300, 0x36F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
constexpr CodePoints kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3041, 0xA4CF},
                                {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},  {0xFE30, 0xFE6F},
                                {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                                {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

constexpr std::string_view kTab = "    ";

/// Bounds a step over code points that take no column.
constexpr std::size_t kBytesPerColumn = 8;

std::string escape(char32_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  return value < 0x80 ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{{{:x}}}", number);
}

std::uint32_t columns_of(const CodePoint& at) {
  if (at.value >= 0x20 && at.value < 0x7F) return 1;
  if (at.value == '\t') return static_cast<std::uint32_t>(kTab.size());
  if (contains(kEscaped, at.value)) return static_cast<std::uint32_t>(escape(at.value).size());
  if (contains(kCombining, at.value)) return 0;
  return contains(kWide, at.value) ? 2 : 1;
}

}  // namespace

std::uint32_t append_visible(std::string& out, std::string_view text) {
  std::uint32_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint here = decode(text, at);
    if (!here.valid) {
      out += "\xEF\xBF\xBD";
    } else if (here.value == '\t') {
      out += kTab;
    } else if (contains(kEscaped, here.value)) {
      out += escape(here.value);
    } else {
      out += text.substr(at, here.length);
    }
    columns += columns_of(here);
    at += here.length;
  }
  return columns;
}

std::string visible(std::string_view text) {
  std::string out;
  append_visible(out, text);
  return out;
}

std::string visible_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    append_visible(out, text.substr(0, end));
    out += text.substr(end, 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string clipped(std::string_view text) {
  constexpr std::size_t kLongestCell = 2000;
  if (text.size() <= kLongestCell) return std::string(text);
  std::size_t length = kLongestCell;
  while (length > kLongestCell - 4 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) {
    --length;
  }
  return std::string(text.substr(0, length)) + "...";
}

TextStep step_forward(std::string_view text, std::size_t from, std::uint32_t columns) {
  TextStep step{from, 0};
  const std::size_t limit = std::min(text.size(), from + kBytesPerColumn * columns);
  while (step.offset < limit) {
    const CodePoint next = decode(text, step.offset);
    const std::uint32_t taken = step.columns + columns_of(next);
    if (taken > columns) break;
    step = {step.offset + next.length, taken};
  }
  return step;
}

TextStep step_back(std::string_view text, std::size_t from, std::uint32_t columns) {
  TextStep step{from, 0};
  const std::size_t limit = from - std::min(from, kBytesPerColumn * columns);
  while (step.offset > limit) {
    const CodePoint previous = decode_back(text, step.offset);
    const std::uint32_t taken = step.columns + columns_of(previous);
    if (taken > columns) break;
    step = {step.offset - previous.length, taken};
  }
  return step;
}

}  // namespace mir

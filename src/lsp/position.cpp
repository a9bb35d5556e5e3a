// Converts between byte offsets and lines and columns in UTF-8, UTF-16 or UTF-32 units.
#include "lsp/position.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mir::lsp {

namespace {

constexpr std::pair<std::string_view, PositionEncoding> kEncodings[] = {
    {"utf-8", PositionEncoding::kUtf8},
    {"utf-16", PositionEncoding::kUtf16},
    {"utf-32", PositionEncoding::kUtf32}};

/// Returns the length in bytes of the character that begins with this byte of valid UTF-8.
std::uint32_t character_bytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

std::uint32_t units_of_character(std::uint32_t bytes, PositionEncoding encoding) {
  if (encoding == PositionEncoding::kUtf8) return bytes;
  return encoding == PositionEncoding::kUtf16 && bytes == 4 ? 2 : 1;
}

/// Reads eight bytes at a time: lines are long, and most texts have nothing else.
bool is_ascii(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080'8080'8080'8080;
  while (text.size() >= sizeof(std::uint64_t)) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data(), sizeof bytes);
    if ((bytes & kHighBits) != 0) return false;
    text.remove_prefix(sizeof bytes);
  }
  return std::ranges::none_of(text, [](char c) { return (c & 0x80) != 0; });
}

/// Appends where lines begin that end in [begin, end).
void add_starts(std::string_view text, std::size_t begin, std::size_t end,
                std::vector<std::uint32_t>& starts) {
  for (std::size_t at = text.find_first_of("\r\n", begin); at < end;
       at = text.find_first_of("\r\n", at)) {
    at += text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n' ? 2 : 1;
    starts.push_back(static_cast<std::uint32_t>(at));
  }
}

}  // namespace

std::optional<PositionEncoding> position_encoding(std::string_view name) {
  for (const auto& [spelling, encoding] : kEncodings) {
    if (spelling == name) return encoding;
  }
  return std::nullopt;
}

std::string_view name_of(PositionEncoding encoding) {
  return kEncodings[static_cast<std::size_t>(encoding)].first;
}

std::uint32_t units_of(std::string_view text, PositionEncoding encoding) {
  if (encoding == PositionEncoding::kUtf8 || is_ascii(text)) {
    return static_cast<std::uint32_t>(text.size());
  }
  std::uint32_t units = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t bytes = character_bytes(text[at]);
    units += units_of_character(bytes, encoding);
    at += bytes;
  }
  return units;
}

LineIndex::LineIndex(std::string_view text) : starts_{0} {
  add_starts(text, 0, text.size(), starts_);
}

void LineIndex::edit(std::string_view text, std::uint32_t begin, std::uint32_t end,
                     std::uint32_t inserted) {
  // From a line before the edit to a line after it, because an edit may part or join CR and LF.
  const std::uint32_t first = line_of(begin == 0 ? 0 : begin - 1);
  const auto kept = std::ranges::upper_bound(starts_, end + 1);
  std::vector<std::uint32_t> starts(starts_.begin(), starts_.begin() + first + 1);
  const auto moved = [&](std::uint32_t start) { return start - end + begin + inserted; };
  add_starts(text, starts_[first], kept == starts_.end() ? text.size() : moved(*kept), starts);
  for (auto each = kept; each != starts_.end(); ++each) {
    if (moved(*each) > starts.back()) starts.push_back(moved(*each));
  }
  starts_ = std::move(starts);
}

std::uint32_t LineIndex::line_of(std::uint32_t offset) const {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(starts_, offset) - starts_.begin()) -
         1;
}

std::uint32_t LineIndex::line_end(std::string_view text, std::uint32_t line) const {
  if (line + 1 == line_count()) return static_cast<std::uint32_t>(text.size());
  std::uint32_t end = starts_[line + 1];
  if (end > starts_[line] && text[end - 1] == '\n') --end;
  if (end > starts_[line] && text[end - 1] == '\r') --end;
  return end;
}

std::uint32_t LineIndex::offset_of(std::string_view text, Position at,
                                   PositionEncoding encoding) const {
  if (at.line >= line_count()) return static_cast<std::uint32_t>(text.size());
  std::uint32_t offset = starts_[at.line];
  const std::uint32_t end = line_end(text, at.line);
  std::uint32_t column = 0;
  while (offset < end) {
    const std::uint32_t bytes = character_bytes(text[offset]);
    column += units_of_character(bytes, encoding);
    if (column > at.column) break;
    offset += bytes;
  }
  return std::min(offset, end);
}

Position LineIndex::position_of(std::string_view text, std::uint32_t offset,
                                PositionEncoding encoding) const {
  const std::uint32_t line = line_of(offset);
  const std::uint32_t end = std::min(offset, line_end(text, line));
  return {line, units_of(text.substr(starts_[line], end - starts_[line]), encoding)};
}

}  // namespace mir::lsp

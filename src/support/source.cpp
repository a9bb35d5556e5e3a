// Source files: finds lines and columns of byte offsets with checkpoints instead of full tables.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "mir/codes/files.hpp"
#include "mir/diagnostic.hpp"

namespace mir {

namespace {

constexpr std::uint32_t kStride = 1024;

bool starts_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

/// Bytes 0x80 to 0xBF in `text`, which has at most kStride bytes. Eight at a time: each byte of
/// `sums` counts those at its place in a word.
std::uint32_t count_continuations(std::string_view text) {
  static_assert(kStride / 8 < 256, "a byte holds the count of its place");
  constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101u;
  constexpr std::uint64_t kEven = 0x00FF'00FF'00FF'00FFu;
  std::uint64_t sums = 0;
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t word;
    std::memcpy(&word, text.data(), 8);
    sums += word >> 7 & ~(word >> 6) & kOnes;
  }
  const std::uint64_t pairs = (sums & kEven) + (sums >> 8 & kEven);
  auto count = static_cast<std::uint32_t>(pairs * 0x0001'0001'0001'0001u >> 48);
  for (const char byte : text) count += !starts_code_point(byte);
  return count;
}

std::uint32_t count_newlines(std::string_view text) {
  std::uint32_t count = 0;
  for (auto at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) ++count;
  return count;
}

/// Adds what kStride bytes have. Compilers make vector code of the loops of constant length.
template <class Counts>
void add_block(Counts& counts, const char* at) {
  constexpr std::size_t kRow = 64;
  static_assert(kStride % kRow == 0 && kStride / kRow < 256, "a byte holds the count of its place");
  std::array<std::uint8_t, kRow> newlines{}, continuations{};
  for (std::size_t row = 0; row < kStride; row += kRow) {
    for (std::size_t i = 0; i < kRow; ++i) {
      const auto byte = static_cast<signed char>(at[row + i]);
      newlines[i] = static_cast<std::uint8_t>(newlines[i] + (byte == '\n'));
      // The bytes 0x80 to 0xBF.
      continuations[i] = static_cast<std::uint8_t>(continuations[i] + (byte < -64));
    }
  }
  for (const std::uint8_t each : newlines) counts.newlines += each;
  counts.code_points += kStride;
  for (const std::uint8_t each : continuations) counts.code_points -= each;
}

/// Adds what a piece of at most kStride bytes has.
template <class Counts>
void add_counts(Counts& counts, std::string_view text) {
  counts.newlines += count_newlines(text);
  counts.code_points += static_cast<std::uint32_t>(text.size()) - count_continuations(text);
}

}  // namespace

SourceFile::SourceFile(std::string name, std::string text, SourcePos base, std::uint32_t first_line)
    : name_(std::move(name)), text_(std::move(text)), base_(base), first_line_(first_line) {}

const std::vector<SourceFile::Counts>& SourceFile::checkpoints() const {
  std::call_once(checkpoints_built_, [this] {
    checkpoints_.reserve(size() / kStride + 1);
    Counts counts;
    for (std::uint32_t block = 0;; block += kStride) {
      checkpoints_.push_back(counts);
      if (size() - block < kStride) break;
      add_block(counts, text_.data() + block);
    }
  });
  return checkpoints_;
}

SourceFile::Counts SourceFile::counts_before(std::uint32_t offset) const {
  Counts counts = checkpoints()[offset / kStride];
  const std::uint32_t block = offset / kStride * kStride;
  add_counts(counts, std::string_view(text_).substr(block, offset - block));
  return counts;
}

std::uint32_t SourceFile::line_start(std::uint32_t newlines) const {
  if (newlines == 0) return 0;
  // The newline that ends the line before lies after the last checkpoint that has fewer.
  const auto& table = checkpoints();
  const auto after = std::partition_point(
      table.begin(), table.end(), [&](const Counts& counts) { return counts.newlines < newlines; });
  const auto block = static_cast<std::size_t>(after - table.begin() - 1);
  std::uint32_t seen = table[block].newlines;
  std::size_t at = block * kStride;
  for (; seen < newlines; ++seen) {
    at = text_.find('\n', at);
    if (at == std::string::npos) return size();
    ++at;
  }
  return static_cast<std::uint32_t>(at);
}

std::uint32_t SourceFile::offset_of(SourcePos pos) const {
  return pos <= base_ ? 0 : std::min(pos - base_, size());
}

LineColumn SourceFile::line_column(SourcePos pos) const {
  const Counts here = counts_before(offset_of(pos));
  return {here.newlines + first_line_,
          here.code_points - counts_before(line_start(here.newlines)).code_points + 1};
}

std::string_view SourceFile::line(std::uint32_t number) const {
  if (number < first_line_) return {};
  const std::uint32_t begin = line_start(number - first_line_);
  std::uint32_t end = std::max(begin, line_start(number - first_line_ + 1));
  if (end > begin && text_[end - 1] == '\n') {
    --end;
    if (end > begin && text_[end - 1] == '\r') --end;
  }
  return std::string_view(text_).substr(begin, end - begin);
}

std::uint32_t SourceFile::offset_in_line(SourcePos pos) const {
  const std::uint32_t offset = offset_of(pos);
  return offset - line_start(counts_before(offset).newlines);
}

Error SourceManager::full(std::string_view name) {
  return {diag::kFileTooLarge,
          fmt::format("'{}' is too large: all texts of a run together may have 4 GiB", name)};
}

const SourceFile* SourceManager::add(std::string name, std::string text, std::uint32_t first_line) {
  constexpr std::uint64_t kSpace = std::numeric_limits<SourcePos>::max();
  const std::uint64_t next = std::uint64_t{next_base_} + text.size() + 1;
  if (text.size() > kMaxFileSize || next > kSpace) return nullptr;
  files_.emplace_back(std::move(name), std::move(text), next_base_, first_line);
  next_base_ = static_cast<SourcePos>(next);
  return &files_.back();
}

std::string SourceManager::take_text(const SourceFile& file) {
  const auto found =
      std::ranges::find_if(files_, [&](const SourceFile& each) { return &each == &file; });
  return std::move(found->text_);
}

const SourceFile* SourceManager::file_of(SourcePos pos) const {
  if (pos == 0 || pos >= next_base_) return nullptr;
  const auto after =
      std::upper_bound(files_.begin(), files_.end(), pos,
                       [](SourcePos at, const SourceFile& file) { return at < file.base(); });
  return &*std::prev(after);
}

}  // namespace mir

// Source texts, byte positions, lines and columns.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace mir {

/// A position in the source space: the concatenation of every text a SourceManager holds.
/// Position 0 belongs to no text and means "unknown".
using SourcePos = std::uint32_t;

/// Half-open range of positions inside one text.
struct Span {
  SourcePos begin = 0;
  SourcePos end = 0;
  bool known() const { return begin != 0; }
  friend bool operator==(const Span&, const Span&) = default;
};

struct LineColumn {
  std::uint32_t line = 0;    ///< 1-based
  std::uint32_t column = 0;  ///< 1-based, counted in code points
};

/// One text with its name. The text is followed by a NUL byte, so scanners need no bound check.
/// Lines end in LF or CRLF. Every query costs the same however long the line is, and const use is
/// thread-safe.
class SourceFile {
 public:
  /// `first_line` is the number of the text's first line: more than 1 for a part of a file.
  SourceFile(std::string name, std::string text, SourcePos base, std::uint32_t first_line = 1);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  /// Position of the first byte; the range [base, base + size] belongs to this text.
  SourcePos base() const { return base_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(text_.size()); }
  std::string_view slice(Span span) const {
    return std::string_view(text_).substr(span.begin - base_, span.end - span.begin);
  }
  SourcePos position_of(const char* at) const {
    return base_ + static_cast<SourcePos>(at - text_.data());
  }

  std::uint32_t first_line() const { return first_line_; }
  LineColumn line_column(SourcePos pos) const;
  /// Text of a line, counted from first_line(), without its line end.
  std::string_view line(std::uint32_t number) const;
  /// Byte offset of `pos` inside its line.
  std::uint32_t offset_in_line(SourcePos pos) const;

 private:
  /// What precedes a byte offset. A byte 0x80 to 0xBF counts as part of the code point before it.
  struct Counts {
    std::uint32_t newlines = 0;
    std::uint32_t code_points = 0;
  };
  const std::vector<Counts>& checkpoints() const;
  Counts counts_before(std::uint32_t offset) const;
  /// Offset of the line that `newlines` line ends precede.
  std::uint32_t line_start(std::uint32_t newlines) const;
  std::uint32_t offset_of(SourcePos pos) const;

  std::string name_;
  std::string text_;
  SourcePos base_;
  std::uint32_t first_line_;
  mutable std::once_flag checkpoints_built_;
  mutable std::vector<Counts> checkpoints_;  // one per 1 KiB of text, built on first use
};

/// Holds the texts of one run. References stay valid for its lifetime. Adding is not thread-safe.
class SourceManager {
 public:
  /// Largest text accepted, in bytes; the whole space holds twice as much.
  static constexpr std::uint32_t kMaxFileSize = (1u << 31) - 2;

  /// Null when `text` does not fit into what is left of the space.
  const SourceFile* add(std::string name, std::string text, std::uint32_t first_line = 1);
  /// The text that contains `pos`; null for position 0.
  const SourceFile* file_of(SourcePos pos) const;

 private:
  std::deque<SourceFile> files_;
  SourcePos next_base_ = 1;
};

}  // namespace mir

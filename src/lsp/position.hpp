// Lines and columns as the Language Server Protocol counts them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mir::lsp {

/// Unit that columns count.
enum class PositionEncoding : std::uint8_t { kUtf8, kUtf16, kUtf32 };

/// Returns no value if the protocol has no encoding of this name.
std::optional<PositionEncoding> position_encoding(std::string_view name);
std::string_view name_of(PositionEncoding encoding);

/// Both count from 0.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

/// Offsets of the lines of a text. Lines end in LF, CRLF or CR, as in the protocol.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);

  std::uint32_t line_count() const { return static_cast<std::uint32_t>(starts_.size()); }
  std::uint32_t line_of(std::uint32_t offset) const;
  std::uint32_t line_start(std::uint32_t line) const { return starts_[line]; }
  /// The end of the line, before what ends it.
  std::uint32_t line_end(std::string_view text, std::uint32_t line) const;

  /// The byte offset of a position in `text`, of which this is the index. A column beyond the line
  /// is its end, a line beyond the text is the end of the text, and a column inside a character is
  /// where the character begins.
  std::uint32_t offset_of(std::string_view text, Position at, PositionEncoding encoding) const;
  Position position_of(std::string_view text, std::uint32_t offset,
                       PositionEncoding encoding) const;

  /// Bytes [begin, end) of the old text became `inserted`, and `text` is the result.
  void edit(std::string_view text, std::uint32_t begin, std::uint32_t end, std::uint32_t inserted);

 private:
  std::vector<std::uint32_t> starts_;
};

/// The number of units that a text takes.
std::uint32_t units_of(std::string_view text, PositionEncoding encoding);

}  // namespace mir::lsp

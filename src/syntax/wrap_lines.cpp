// Breaks long lines of canonical text at lists.
#include "syntax/wrap_lines.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "mir/parse.hpp"

namespace mir {

namespace {

using K = TokenKind;

/// True if a line may end before `tokens[at]`. A comma that ends an unquoted text needs the next
/// key on its line.
bool may_break_before(std::span<const Token> tokens, std::size_t at) {
  const K kind = tokens[at].kind();
  if (kind == K::kArrow || kind == K::kLBracketBlock || kind == K::kLoc) return true;
  if (at < 2 || tokens[at - 1].kind() != K::kComma) return false;
  const K listed = tokens[at - 2].kind();
  return listed != K::kBare && listed != K::kDim;
}

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

class Wrapping {
 public:
  Wrapping(std::string_view text, std::span<const Token> tokens, std::uint32_t columns)
      : text_(text), tokens_(tokens), columns_(columns) {}

  std::string run() {
    result_.reserve(text_.size() + text_.size() / 8);
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      line(begin, end);
      if (end < text_.size()) result_ += '\n';
      begin = end + 1;
    }
    return std::move(result_);
  }

 private:
  void line(std::size_t begin, std::size_t end) {
    while (next_ < tokens_.size() && tokens_[next_].offset < begin) ++next_;
    const std::string_view whole = text_.substr(begin, end - begin);
    if (width(whole) <= columns_) {
      result_ += whole;
      return;
    }
    const std::size_t indent = std::min(whole.find_first_not_of(' '), whole.size()) + kDeeper;
    std::size_t piece = begin, column = 0;
    for (std::size_t at = next_ + 1; at < tokens_.size() && tokens_[at].offset < end; ++at) {
      if (!may_break_before(tokens_, at)) continue;
      add(piece, tokens_[at].offset, indent, column);
      piece = tokens_[at].offset;
    }
    add(piece, end, indent, column);
  }

  /// Adds one part of a line. The blank that ends it is dropped at the end of a line.
  void add(std::size_t begin, std::size_t end, std::size_t indent, std::size_t& column) {
    const std::string_view part = text_.substr(begin, end - begin);
    const std::size_t last = part.find_last_not_of(' ');
    const std::size_t needed = width(part.substr(0, last + 1));
    if (column > indent && column + needed > columns_) {
      result_.erase(result_.find_last_not_of(' ') + 1);
      result_.append(1, '\n').append(indent, ' ');
      column = indent;
    }
    result_ += part;
    column += width(part);
  }

  static constexpr std::size_t kDeeper = 8;

  std::string_view text_;
  std::span<const Token> tokens_;
  std::size_t columns_;
  std::size_t next_ = 0;  // the first token that no finished line has
  std::string result_;
};

}  // namespace

std::string wrap_lines(const SourceFile& canonical, std::uint32_t columns) {
  Diagnostics ignored;
  const std::vector<Token> tokens = scan(canonical, ignored);
  return Wrapping(canonical.text(), tokens, columns).run();
}

}  // namespace mir

// The same tokens with other white space between them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "mir/parse.hpp"

namespace mir::test {

/// Writes a tree's tokens and comments with random blanks, tabs and line ends wherever these decide
/// nothing, inside whole types, typed values and quantisation specs too. Equal seeds give equal
/// texts on every platform.
class Respacer {
 public:
  explicit Respacer(std::uint32_t seed) : random_(seed) {}

  std::string operator()(const SyntaxTree& tree) {
    text_.clear();
    previous_ = TokenKind::kEnd;
    has_label_ = false;
    const std::string_view source = tree.file().text();
    std::size_t done = 0;
    for (const Unit& unit : tree.units()) {
      for (const Token& token : unit.tokens()) {
        const std::size_t begin = unit.base() - tree.file().base() + token.offset;
        gap(source.substr(done, begin - done), token.kind(), source.substr(begin, token.length()));
        write(token.kind(), source.substr(begin, token.length()));
        done = begin + token.length();
      }
    }
    gap(source.substr(done), TokenKind::kEnd, "");
    return text_;
  }

 private:
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  /// Some white space, possibly none.
  std::string space(bool line_ends) {
    static constexpr std::string_view kSpaces[] = {"",     " ",  "\t",   "  ",
                                                   " \t ", "\n", "\r\n", "\n\n   "};
    return std::string(kSpaces[pick(line_ends ? 8 : 5)]);
  }

  static bool is_bracket(char c) {
    return std::string_view("()[]{}<>,:=").find(c) != std::string_view::npos;
  }

  static bool begins_op(TokenKind kind) {
    return kind == TokenKind::kOpName || kind == TokenKind::kAddress || kind == TokenKind::kEnd ||
           kind == TokenKind::kRBrace || kind == TokenKind::kBlockName;
  }

  /// Free text ends at a line end or at the next part of its op, whichever comes first.
  bool needs_line_end(TokenKind next) const {
    const bool free_text = previous_ == TokenKind::kSymbol || previous_ == TokenKind::kOpName ||
                           previous_ == TokenKind::kLabel || has_label_;
    return free_text && begins_op(next);
  }
  bool forbids_line_end() const {
    return last_.find(' ') != last_.npos && needs_same_line(previous_);
  }
  static bool needs_same_line(TokenKind kind) {
    return kind == TokenKind::kSymbol || kind == TokenKind::kOpName || kind == TokenKind::kKey ||
           kind == TokenKind::kValue;
  }

  void gap(std::string_view source, TokenKind next, std::string_view next_text) {
    bool own_line = text_.empty();
    if (source.find('/') != source.npos) {
      while (source.find('/') != source.npos) {
        const std::size_t slashes = source.find('/');
        own_line |= source.substr(0, slashes).find('\n') != source.npos;
        const std::size_t end = std::min(source.find('\n', slashes), source.size());
        text_ += own_line ? "\n" + space(true) : " " + space(false);
        text_ += source.substr(slashes, end - slashes);
        text_ += space(false) + "\n";
        source.remove_prefix(end);
      }
      text_ += space(true);
      return;
    }
    if (needs_line_end(next) && previous_ != TokenKind::kAddress) {
      text_ += space(true) + "\n" + space(true);
      return;
    }
    std::string chosen = space(!forbids_line_end());
    const bool apart = text_.empty() || next_text.empty() || is_bracket(text_.back()) ||
                       is_bracket(next_text.front());
    if (chosen.empty() && !apart) chosen = " ";
    text_ += chosen;
  }

  void write(TokenKind kind, std::string_view text) {
    if (kind == TokenKind::kOpName || kind == TokenKind::kAddress) has_label_ = false;
    has_label_ |= kind == TokenKind::kLabel;
    previous_ = kind;
    last_ = text;
    if (kind != TokenKind::kTypedValue && kind != TokenKind::kType &&
        kind != TokenKind::kQuantSpec) {
      text_ += text;
      return;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == ' ') continue;
      const bool inside = i != 0 && i + 1 != text.size();
      if (inside && is_bracket(text[i])) text_ += space(true);
      text_ += text[i];
      if (inside && is_bracket(text[i])) text_ += space(true);
    }
  }

  std::mt19937 random_;
  std::string text_;
  std::string_view last_;
  TokenKind previous_ = TokenKind::kEnd;
  bool has_label_ = false;  // of the op being written
};

}  // namespace mir::test

// What grammar actions write to: tokens and nodes of the unit being parsed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "mir/parse.hpp"
#include "syntax/lexer.hpp"

namespace mir {

/// Feeds the parser with tokens and collects the tree. Tokens have running numbers over the whole
/// text; nodes store them relative to their unit.
class TreeBuilder {
 public:
  TreeBuilder(const SourceFile& file, Diagnostics& diagnostics,
              const std::function<bool(Unit&&)>& deliver);

  /// Scans the next token and gives its number; returns its kind.
  int next_token(std::uint32_t& number);
  /// The number the next token will get.
  std::uint32_t token_end() const {
    return first_token_ + static_cast<std::uint32_t>(tokens_.size());
  }

  void node(NodeKind kind, std::uint32_t token, std::uint32_t count = 0) {
    nodes_.emplace_back(kind, token - first_token_, count);
  }
  /// Tokens below `end` and all nodes so far make up a unit.
  void finish_unit(std::uint32_t end);

  /// Reports that the current token is none of `expected` and makes the scanner skip to the next
  /// op.
  void syntax_error(std::vector<TokenKind> expected);

 private:
  /// Where bodies opened that are not closed yet.
  class Braces {
   public:
    explicit Braces(const char* text) : text_(text) {}
    /// The brace at hand.
    void take(const Lexer& lexer);
    /// The one that was probably meant to be closed: the first whose closing brace stands farther
    /// to the left than its line, else the last one that is open; null: none.
    const char* unclosed() const {
      return open_.empty() ? nullptr : suspect_ != nullptr ? suspect_ : open_.back();
    }

   private:
    const char* text_;
    std::vector<const char*> open_;
    const char* suspect_ = nullptr;
  };

  void report(const std::vector<TokenKind>& expected);
  void explain(Diagnostic& diagnostic, std::span<const TokenKind> expected) const;

  const SourceFile& file_;
  Diagnostics& diagnostics_;
  const std::function<bool(Unit&&)>& deliver_;
  Lexer lexer_;
  Braces braces_;
  std::size_t errors_before_;
  bool after_module_ = false;
  const char* last_error_ = nullptr;  // where the last misplaced token begins
  TokenKind current_ = TokenKind::kEnd;
  std::uint32_t first_token_ = 0;
  std::vector<Token> tokens_;  // offsets are absolute until the unit is finished
  std::vector<Node> nodes_;
};

}  // namespace mir

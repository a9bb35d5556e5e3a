// The receiver of grammar actions: tokens and nodes of the unit being parsed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "mir/parse.hpp"
#include "syntax/damage.hpp"
#include "syntax/lexer.hpp"

namespace mir {

/// Feeds the parser with tokens and collects the tree. Tokens have running numbers over the whole
/// text; nodes store them relative to their unit.
class TreeBuilder {
 public:
  /// With `whole_only`, nothing is delivered after an error; otherwise text that cannot be read is
  /// part of the tree (see syntax/damage.hpp).
  TreeBuilder(const SourceFile& file, Diagnostics& diagnostics,
              const std::function<bool(Unit&&)>& deliver, bool whole_only = true,
              std::uint32_t offset = 0);

  /// Before the first token: the text begins in a module whose head is not in it. A head without
  /// inputs and outputs is delivered first. Notes at its brace have no place in the text.
  void begin_in_module();

  /// Before the first token: the text lacks a brace. It is reported, and the text is read as if it
  /// had the brace.
  void imply(const MissingBrace& brace) {
    missing_ = brace;
    lexer_.imply(brace);
  }

  /// Scans the next token and stores its number; returns its kind.
  int next_token(std::uint32_t& number);
  /// The number the next token will get.
  std::uint32_t token_end() const {
    return first_token_ + static_cast<std::uint32_t>(tokens_.size());
  }

  /// Appends a node; `token` is 0 for kinds without a token.
  void node(NodeKind kind, std::uint32_t token, std::uint32_t count = 0) {
    nodes_.emplace_back(kind, token < first_token_ ? 0 : token - first_token_, count);
  }
  /// Tokens below `end` and all nodes so far make up a unit.
  void finish_unit(std::uint32_t end);

  // Recovery has skipped text, and the current token is the one at which parsing resumes.

  /// The skipped text was an op or a part of one.
  void skip_item();
  /// It was outside all modules.
  void skip_text();
  /// It was the head of an op, or of a module, whose body follows.
  void begin_damaged_body();
  void end_damaged_body(std::uint32_t brace);
  void begin_damaged_module();
  /// Ends the text, perhaps too early: closes everything that is open.
  void finish();

  /// Reports that the current token is none of `expected` and makes the scanner skip to the next
  /// op.
  void syntax_error(std::vector<TokenKind> expected);

 private:
  /// Opening braces of bodies that are not closed yet.
  class Braces {
   public:
    explicit Braces(const char* text) : text_(text) {}
    void open(const char* brace) { open_.push_back(brace); }
    /// The closing brace at hand.
    void close(const Lexer& lexer);
    /// Returns the brace that was probably meant to be closed: the first whose closing brace is
    /// farther to the left than its line, otherwise the last open one. Null if no brace is open.
    const char* unclosed() const {
      return open_.empty() ? nullptr : suspect_ != nullptr ? suspect_ : open_.back();
    }

   private:
    const char* text_;
    std::vector<const char*> open_;
    const char* suspect_ = nullptr;
  };

  /// The end of the nodes that belong to complete items.
  std::size_t complete_nodes() const;
  /// Returns the first node of the op whose head is being read. `from` ends its nodes.
  std::optional<std::size_t> open_head(std::size_t from) const;
  bool is_whole_op() const;
  void note_error(bool op_is_whole);
  /// Replaces the tokens read of the damaged item by one token of kind kError; returns its number.
  /// No number if nothing was skipped.
  std::optional<std::uint32_t> damaged_token(std::uint32_t first);
  std::uint32_t first_damaged_token(std::size_t complete);
  std::optional<std::uint32_t> drop_damaged_item();
  bool is_stray_brace() const;
  bool is_short_of_braces() const;
  bool has_text_after_error() const;
  void report_stray_brace();
  void report_implied_brace();
  void report(const std::vector<TokenKind>& expected);
  void explain(Diagnostic& diagnostic, std::span<const TokenKind> expected);
  const char* end_of_values(const char* end) const;
  void offer_mark(Diagnostic& diagnostic, std::span<const TokenKind> expected) const;
  void explain_mlir_type(Diagnostic& diagnostic) const;

  const SourceFile& file_;
  Diagnostics& diagnostics_;
  const std::function<bool(Unit&&)>& deliver_;
  Lexer lexer_;
  Braces braces_;
  std::size_t errors_before_;
  bool whole_only_;
  bool is_stopped_ = false;  // no unit is wanted any more
  bool after_module_ = false;
  bool in_module_ = false;    // a unit with its head was finished, and none with its end
  bool is_mlir_ = false;      // the text was recognised as MLIR, so that it is not read further
  bool op_is_whole_ = false;  // an op could start at the last error
  bool error_is_on_new_line_ = false;
  MissingBrace missing_;                // see imply()
  std::span<const TokenKind> implied_;  // tokens of a head that is not in the text
  std::uint32_t error_token_ = 0;       // number of the last token in error
  const char* told_brace_ = nullptr;    // that an error says is not closed
  const char* latest_error_ = nullptr;  // where the last error was found
  const char* last_error_ = nullptr;    // where the last misplaced token begins
  TokenKind current_ = TokenKind::kEnd;
  std::uint32_t first_token_ = 0;
  std::vector<Token> tokens_;  // offsets are absolute until the unit is finished
  std::vector<Node> nodes_;
};

namespace grammar {

/// Parses the text of a builder: takes its tokens and appends its nodes. Returns false if the text
/// cannot be parsed to its end.
bool parse(TreeBuilder& tree);

}  // namespace grammar

}  // namespace mir

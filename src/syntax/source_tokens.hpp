// Token ranges of the ops of a text, for printing unmodified parts verbatim.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mir/parse.hpp"
#include "syntax/layout.hpp"

namespace mir {

/// Tokens `[begin, end)` of an index. Or bytes `[begin, end)` of the text: a plain line.
struct TokenRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  TokenKind last = TokenKind::kEnd;  ///< the last token of a plain line; kEnd: a range of tokens

  bool is_line() const { return last != TokenKind::kEnd; }
};

/// The pieces of an op's text.
class TokenPieces {
 public:
  TokenPieces() = default;
  explicit TokenPieces(std::span<const TokenRange> pieces)
      : pieces_(pieces.data()), count_(pieces.size()) {}
  explicit TokenPieces(TokenRange line) : line_(line), count_(1) {}

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  TokenRange operator[](std::size_t i) const { return pieces_ == nullptr ? line_ : pieces_[i]; }

 private:
  const TokenRange* pieces_ = nullptr;  // null: line_ is the only piece
  TokenRange line_;
  std::size_t count_ = 0;
};

/// A mention of a value with its type.
struct TypedMention {
  std::string_view name;  ///< without `%`
  bool has_symbol = false;
  bool has_attributes = false;
};

/// The forms of an op's text whose meaning depends on the text around it.
struct ShortForms {
  std::string_view op_name;              ///< empty if the name is in full
  std::string_view name_tag;             ///< likewise
  bool has_rest = false;                 ///< `*` in a list of the op
  bool have_values_rest = false;         ///< `*` in a list of a value
  bool has_short_recipe = false;         ///< `[#spec]` or `#spec(3)`
  std::vector<std::string_view> keys{};  ///< of the lists of the op, if one has `*`

  bool any() const {
    return !op_name.empty() || !name_tag.empty() || has_rest || have_values_rest ||
           has_short_recipe;
  }
};

/// Index of one text. An op's tokens come in pieces between which the contents of its regions lie,
/// so an op with n regions has n + 1: the first reaches from the op's first token to the brace that
/// opens the first region. A module has two. The comments of a text are shared out without rest: a
/// piece has those between its tokens, those on lines of their own before it, and the one after it
/// on its last line.
///
/// Most ops of most texts are plain lines: an op without regions, without comments and without
/// short forms, whose text is what the layout prints. The index has the place of such a line in the
/// text, and tokens of everything else.
///
/// Not thread-safe, const members included: it remembers the op that was found last.
class SourceTokens {
 public:
  /// An index without units. `file` must outlive it.
  explicit SourceTokens(const SourceFile& file);
  explicit SourceTokens(const SyntaxTree& tree);
  ~SourceTokens();

  /// Adds the next unit of the text, which may be released then.
  void add(const Unit& unit);
  /// Ends the text. The members below are called after that.
  void finish();

  const SourceFile& file() const { return file_; }
  /// Returns the pieces of the op or module that the text names at `at`; empty if there is none.
  TokenPieces pieces(SourcePos at) const;
  /// From the name to the colon of the block `name` in the i-th region of an op.
  std::optional<TokenRange> block(SourcePos op, std::uint32_t region, std::string_view name) const;
  /// The definitions of aliases, in order.
  std::span<const TokenRange> aliases() const { return aliases_; }
  /// True if the module at `at` carries `mir_version`.
  bool is_portable(SourcePos module) const;
  /// The mentions among the tokens of a range that state the type of their value, in order.
  std::vector<TypedMention> mentions(TokenRange range) const;
  /// True if the range uses an alias of a type.
  bool has_type_alias(TokenRange range) const;
  ShortForms short_forms(TokenRange range) const;
  /// Position of a range's first token.
  SourcePos begin(TokenRange range) const;

  /// Prints tokens with their comments.
  void print(TokenRange range, LayoutPrinter& out) const;
  /// Prints the comments of a range but the one after it, each on a line of its own.
  void print_comments(TokenRange range, LayoutPrinter& out) const;
  /// Prints the comment after a range on its last line.
  void print_trailing(TokenRange range, LayoutPrinter& out) const;
  /// Prints the comments below the last token of the text.
  void print_end(LayoutPrinter& out) const;

 private:
  /// An op or a module.
  struct OpTokens {
    SourcePos at = 0;
    std::uint32_t first = 0;           // first piece; of a plain line, the first byte
    std::uint32_t second = 0;          // number of pieces; of a plain line, the byte after it
    TokenKind last = TokenKind::kEnd;  // of a plain line
    bool portable = false;             // of modules
  };
  struct BlockTokens {
    SourcePos op = 0;
    std::uint32_t region = 0;
    TokenRange tokens;
  };
  class Indexer;

  const OpTokens* find(SourcePos at) const;
  std::vector<std::string_view> keys(TokenRange range) const;
  std::string_view name_of(const BlockTokens& block) const;
  TokenKind kind(const TokenRange& range, std::uint32_t token) const;
  std::string_view text(std::uint32_t token) const;
  std::string_view text(const Token& token) const {
    return file_.text().substr(token.offset, token.length());
  }
  std::vector<Token> tokens_of_line(TokenRange line) const;
  /// Returns the text between a token and the one before it.
  std::string_view gap(std::uint32_t token) const;
  /// True if nothing but blanks and comments precedes the token.
  bool begins_text(std::uint32_t token) const { return tokens_[token - 1].end() == 0; }

  const SourceFile& file_;
  std::vector<Token> tokens_;  // offsets in the text; each range follows an empty token, where the
                               // token before the range ends
  std::vector<OpTokens> ops_;  // by position
  std::vector<TokenRange> pieces_;
  std::vector<BlockTokens> blocks_;  // by op, region and name
  std::vector<TokenRange> aliases_;
  std::uint32_t end_ = 0;             // of the last token
  mutable std::size_t next_op_ = 0;   // after the one that was found last
  std::unique_ptr<Indexer> indexer_;  // until the text ends
};

}  // namespace mir

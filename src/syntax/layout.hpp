// The canonical layout: where a token sequence has blanks and line ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/parse.hpp"

namespace mir {

/// Prints tokens in the canonical layout of docs/language.md: one operation a line at any length,
/// four blanks per open body, no blank at a line's end, one newline at the end of the text. Every
/// printed text of the project, from a tree or from IR, goes through it.
///
/// Layout depends on the token kinds alone (and on an operation's name for the space between it
/// and its first list), never on how the source was spaced. Rules beyond upstream's:
/// - a block label is printed one step left of the operations it heads;
/// - a comment on a line of its own keeps that line; one that follows text keeps two blanks before
///   it. Inside an operation it breaks the line, which goes on eight blanks deeper;
/// - an element that its neighbour's free text could swallow on the same line (a location after a
///   name, a key with blanks after an unquoted string) moves to the next line likewise.
///
/// Tokens come in the order of the grammar; a sequence that the grammar does not allow prints as
/// something, without a promise. Pieces may be whole or split: kTypedValue, or kValue, kColon and
/// kType, or the parts of the type, print alike. Nothing is allocated per token.
class LayoutPrinter {
 public:
  /// `expected_size` reserves space for that many bytes of text.
  explicit LayoutPrinter(std::size_t expected_size = 0);
  /// Takes text in pieces, each valid during the call.
  using Sink = std::function<void(std::string_view)>;
  /// Passes text on whenever some 256 KiB are there instead of keeping it: text() is what the sink
  /// has not had yet.
  explicit LayoutPrinter(Sink sink);

  /// Appends a token; `text` is printed as canonical_text(kind, text).
  void token(TokenKind kind, std::string_view text);
  /// Appends a kTypedValue of two texts, `%8:` and a type.
  void typed_value(std::string_view name, std::string_view type);
  /// Appends a token whose kind has only one spelling: punctuation, opening words, `true`.
  void token(TokenKind kind);
  /// Appends an op that is one line without comments, in the layout already; `last` is the kind of
  /// its last token, after which the layout does not depend on the text.
  void line(std::string_view text, TokenKind last);
  /// Appends a comment at this place. Lines of `text` that do not start with `//` get it, blanks at
  /// their ends go. `own_line` tells whether nothing but blanks precedes it on its line.
  void comment(std::string_view text, bool own_line);
  /// Appends bytes that hold no token.
  void copy(std::string_view text);
  /// Appends a token byte for byte with nothing before it; the layout goes on as after token().
  void copy(TokenKind kind, std::string_view text);

  /// Returns the text printed since the last clear(); valid until the next call of a member that
  /// prints.
  std::string_view text() const {
    return {buffer_.data(), static_cast<std::size_t>(at_ - buffer_.data())};
  }
  /// Empties text() and keeps the layout state, so that long output can be written in pieces.
  void clear() { at_ = buffer_.data(); }
  /// Ends the last line and returns text(), or passes it to the sink where there is one; the
  /// printer is as new afterwards.
  std::string finish();

  LayoutPrinter(const LayoutPrinter&) = delete;
  LayoutPrinter& operator=(const LayoutPrinter&) = delete;

 private:
  struct Comment {
    std::string text;
    bool own_line;
  };

  void reserve(std::size_t bytes);
  void grow(std::size_t bytes);
  void put(std::string_view text);
  void new_line(std::uint32_t indent);
  void token_with_care(TokenKind kind, std::string_view text, std::uint8_t code);
  void separate(TokenKind kind, std::uint8_t code);
  void put_comments(std::uint32_t indent);
  void track(TokenKind kind, std::string_view text);
  void open(bool compact);
  bool hold(TokenKind kind, std::string_view text);

  Sink sink_;
  std::string buffer_;  // its size is the space there is; text ends at at_
  char* at_;
  char* limit_;
  std::uint8_t before_ = 0;  // what precedes the next token: its row of the table of gaps
  bool compact_ = false;     // whether commas here have no blank
  bool careful_ = false;     // comments_, held_ or open_text_
  bool open_text_ = false;   // whether the last value is text that could go on past a comma
  bool anything_ = false;    // whether a line has been begun
  std::uint32_t depth_ = 0;
  std::vector<std::uint8_t> outer_compact_;
  std::vector<Comment> comments_;  // those since the last token
  std::string held_;               // a comma after open text and the key after it
};

/// True if `kind` begins a line of the canonical layout when it follows `previous` (kEnd: first).
bool starts_line(TokenKind previous, TokenKind kind);

/// The one spelling of a token: blanks that the scanner accepts inside it (`< name = "x" >`,
/// `addr : 0x0`, `$a + $b`, `QuantSpec (`, `loc ( ... )`, `< CPU >`) are gone, and so are line ends
/// inside opaque bodies. Any other text is its own spelling.
std::string canonical_text(TokenKind kind, std::string_view text);

}  // namespace mir

// The scanner: text to tokens, one context at a time. Rules are in grammar/lexer.re.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/parse.hpp"
#include "syntax/damage.hpp"

namespace mir {

/// Scans one text. The admissible tokens depend on the context (a body, a value list, an attribute
/// list, ...). The scanner keeps that context itself, so it needs no feedback from the parser and
/// can be tested alone. White space never decides between two readings.
class Lexer {
 public:
  /// Scans from `offset` on, where an op or a module starts.
  Lexer(const SourceFile& file, Diagnostics& diagnostics, std::uint32_t offset = 0);

  /// Before the first token: what is scanned lies in a module whose head is not.
  void begin_in_module() { nesting_.push_back(Nesting::kBody); }

  /// Delivers a brace that the text lacks, where a token ends.
  void imply(const MissingBrace& brace) {
    implied_ = reinterpret_cast<const Byte*>(file_.text().data()) + brace.at;
    implied_brace_ = brace.brace;
  }
  /// True if the current token is the implied brace.
  bool is_implied() const { return brace_ != Brace::kNone && begin_ == cursor_; }

  /// Kind of the next token; begin() and end() delimit its text. Returns kError after reporting a
  /// lexical error, and kEnd for ever after the last token.
  TokenKind next();

  const char* begin() const { return reinterpret_cast<const char*>(begin_); }
  const char* end() const { return reinterpret_cast<const char*>(cursor_); }
  /// End of the token before the current one.
  const char* previous_end() const { return reinterpret_cast<const char*>(previous_end_); }
  /// True if a line ends between the previous token and the current one.
  bool is_first_on_line() const;
  /// True if an attribute list is open.
  bool in_attributes() const { return nesting_.back() == Nesting::kAttributes; }

  /// Place at which scanning continues after an error.
  enum class Resume : std::uint8_t {
    kAfterToken,  ///< after the current token, where an op may start
    kAtToken,     ///< at the current token or after it, where an op may start
    kInBody,      ///< at the current token, in a body whose `{` is missing before it
  };
  /// Makes the next call skip to where an op may start: see note [recovery] in lexer.cpp.
  void recover(Resume where);
  /// Makes every further call return kEnd.
  void stop();

 private:
  /// Construct around the text being scanned.
  enum class Nesting : std::uint8_t {
    kBody,        // file, module or region body
    kList,        // ( ... ) of values; [ ... ] of successors
    kAttributes,  // [ key:value, ... ]
    kSymbolRef,   // [@symbol]
    kArray,
    kDict,
    kSpec,        // QuantSpec( ... ) and its kind's parentheses
    kAnnotation,  // QuantAnnotation( ... )
    kType,        // tensor< ... >
    kShape,       // [ ... ] of a type
  };
  /// Effect of the current token on the stack of bodies.
  enum class Brace : std::uint8_t { kNone, kOpened, kClosed };
  using Byte = unsigned char;

  /// A place of the text with a tensor type in canonical spacing.
  struct KnownType {
    const Byte* begin = nullptr;
    std::size_t size = 0;
  };

  TokenKind scan();
  /// Makes the value at hand the current token if its type occurred before; false otherwise.
  bool skip_to_known_value();
  /// Remembers the type of the current token, a kTypedValue.
  void note_type();
  KnownType* slot_of_type(const Byte* type);
  TokenKind resume();
  TokenKind implied_brace();
  TokenKind push(Nesting inside, TokenKind opener);
  TokenKind pop(Nesting inside, TokenKind closer);
  /// True if an op follows the `}` at hand, which would close the module.
  bool closes_module_too_early() const;
  void enter(Nesting inside);
  /// An attribute value is complete once its text ends at this nesting.
  TokenKind value_done(TokenKind kind);

  TokenKind symbol_in_head();
  TokenKind symbol_in_brackets();
  TokenKind op_name(bool free_mnemonic);
  TokenKind jump_label();
  TokenKind op_name_tag(char close, TokenKind kind);
  TokenKind value_name();
  TokenKind bare_value();
  TokenKind attribute_key();
  TokenKind balanced(TokenKind kind, Byte open, Byte close);
  TokenKind fail(DiagCode code, const char* message);
  TokenKind fail_stray();
  TokenKind fail_log_line();
  TokenKind finish(TokenKind kind);

  SourcePos position(const Byte* at) const;
  const Byte* skip_blanks(const Byte* at) const;
  const Byte* skip_space(const Byte* at) const;
  /// Skips comments, too.
  const Byte* skip_gap(const Byte* at) const;
  const Byte* bare_limit(const Byte* from) const;
  void trim_end();

  const SourceFile& file_;
  Diagnostics& diagnostics_;
  const Byte* limit_;
  const Byte* cursor_;
  const Byte* begin_;
  const Byte* previous_end_;
  const Byte* implied_ = nullptr;  // where a brace is missing; null if it was delivered, too
  char implied_brace_ = '{';
  int condition_ = 0;
  Brace brace_ = Brace::kNone;
  bool recovering_ = false;
  bool body_is_missing_ = false;
  std::vector<Nesting> nesting_;
  // Types of values that were scanned, by a few of their bytes. Most of a text are such types, and
  // comparing one with a known one is faster than scanning it.
  std::array<KnownType, 64> types_{};
};

}  // namespace mir

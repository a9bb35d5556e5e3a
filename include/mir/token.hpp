// Tokens: the words of the language, as docs/language.md names them.
#pragma once

#include <cstdint>
#include <string_view>

namespace mir {

/// The values equal the symbol numbers of the generated parser, in declaration order of
/// grammar/parser.yy (checked there at compile time).
enum class TokenKind : std::uint8_t {
  kEnd = 0,
  kError,       ///< the scanner refused the text and has already reported it
  kUndefined,   ///< text that no context allows here
  kResume,      ///< recovery: scanning goes on where an op may start
  kResumeBody,  ///< recovery: as kResume, just inside a body whose head was skipped
  // Heads of modules and ops.
  kSymbol,      ///< `@main`, `@"a b"`
  kOpName,      ///< `linalg.CPU.LinearOp`
  kLabel,       ///< `m.__entry` after prog.jump
  kAddress,     ///< `addr:0x00000000000026`
  kAngle,       ///< `<CPU>`
  kNameAngle,   ///< `<name="m.q_proj">`
  kNameSquare,  ///< `[name="m.q_proj"]`
  kBlockName,   ///< `^bb0`
  kLoc,         ///< `loc(...)`
  kArrow,
  kLParen,
  kRParen,
  kLBrace,
  kRBrace,
  kLBracket,        ///< opens an attribute list
  kLBracketSymbol,  ///< opens `[@symbol]` on a value
  kLBracketBlock,   ///< opens a successor list
  kRBracket,
  kComma,
  kColon,
  kEqual,
  // Values and types.
  kTypedValue,  ///< `%8:tensor<[1, 2], Float32, CPU>` in canonical spacing, one token
  kValue,       ///< `%8`
  kType,        ///< a whole tensor type in canonical spacing
  kTensor,      ///< the word `tensor` of a type that is not one token
  kOpaqueType,  ///< `!dialect.name<...>`
  kLess,
  kGreater,
  kShapeOpen,
  kShapeClose,
  kDim,   ///< `16`, `-1`, `?`, `$past+$S`
  kWord,  ///< a bare word inside a type, an array, a dictionary or a quantisation spec
  // Attributes.
  kKey,
  kInt,
  kFloat,
  kString,
  kTrue,
  kFalse,
  kNull,
  kBare,     ///< an unquoted string, possibly empty
  kInvalid,  ///< `<InvalidAttribute NYI>`
  kHash,     ///< `#alias` or `#dialect.name<...>`
  kArrayOpen,
  kArrayClose,
  kDictOpen,
  kDictClose,
  kQuantSpec,            ///< a whole `QuantSpec(...)` in canonical spacing
  kQuantSpecOpen,        ///< `QuantSpec(` of a spec that is not one token
  kQuantAnnotationOpen,  ///< `QuantAnnotation(`
  kNoneOpen,             ///< `None(` that upstream never closes
  kDataLParen,
  kDataRParen,
  kFieldColon,  ///< `:` between a quantisation field and its value
};
inline constexpr int kTokenKinds = static_cast<int>(TokenKind::kFieldColon) + 1;

/// The name the language document and diagnostics use: `'->'`, `attribute key`.
std::string_view describe(TokenKind kind);
/// The enumerator without its `k`, for token listings.
std::string_view enumerator_name(TokenKind kind);

/// One token. Its text is `length` bytes at `offset` from the start of its unit's text; what lies
/// between two tokens is white space and comments, so a token list loses nothing.
struct Token {
  static constexpr std::uint32_t kMaxLength = (1u << 24) - 1;

  std::uint32_t offset = 0;
  std::uint32_t kind_and_length = 0;

  Token() = default;
  Token(TokenKind kind, std::uint32_t at, std::uint32_t length)
      : offset(at), kind_and_length(static_cast<std::uint32_t>(kind) | length << 8) {}

  TokenKind kind() const { return static_cast<TokenKind>(kind_and_length & 0xff); }
  std::uint32_t length() const { return kind_and_length >> 8; }
  std::uint32_t end() const { return offset + length(); }
};
static_assert(sizeof(Token) == 8);

}  // namespace mir

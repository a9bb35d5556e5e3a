// Reading text: tokens, the tree that keeps every byte, the parser.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir {

// Tokens: the words of the language, as docs/language.md names them.

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

// The lossless syntax tree: a flat list of units.

/// Nodes lie in the order in which the grammar completes them, so one forward pass over a unit
/// meets every part before the whole: the parts of an op head in text order, its lists, then its
/// regions, then kOpEnd. `count` says how many of the preceding nodes of the element kind belong
/// to a list.
enum class NodeKind : std::uint8_t {
  kAddress,          ///< token
  kOpName,           ///< token; begins an op
  kLabel,            ///< token
  kSymbol,           ///< token
  kAngle,            ///< token
  kName,             ///< token, either bracket style
  kType,             ///< token: first token; count: number of tokens
  kEncodedType,      ///< as kType; the value of its encoding precedes
  kTypeValue,        ///< the kType before is an attribute value
  kValue,            ///< token: kTypedValue, or kValue (its kType node, if any, precedes)
  kValueSymbol,      ///< token: the symbol of `[@symbol]`; belongs to the kValue before
  kValueAttributes,  ///< count: number of kAttribute; belongs to the kValue before
  kPort,             ///< token: the name of `[name]`; belongs to the kValue before
  kOperands,         ///< count: number of kValue
  kResults,          ///< count: number of kValue
  kLeaf,             ///< token: first token of a scalar attribute value; count: number of tokens
  kArray,            ///< count: number of element values
  kDictEntry,        ///< token: key; its value precedes
  kDict,             ///< count: number of kDictEntry
  kQuantEntry,       ///< token: key of a QuantAnnotation entry; its value precedes
  kEmptyEntry,       ///< a QuantAnnotation entry with nothing in it
  kQuantAnnotation,  ///< count: number of entries, empty ones included
  kAttribute,        ///< token: key, `*` or the alias of a recipe; its value precedes
  kAttributes,       ///< count: number of kAttribute; belongs to the op
  kSuccessor,        ///< token: block name; its kOperands, if any, precede
  kSuccessors,       ///< count: number of kSuccessor
  kLoc,              ///< token
  kBodyBegin,        ///< token `{`: regions of the op begin
  kRegionBegin,      ///< token `{` of a region with a signature; its kOperands and kResults precede
  kRegionEnd,        ///< token `}`
  kBlock,            ///< token: block name; its kOperands (the arguments), if any, precede
  kBodyEnd,          ///< token `}`
  kOpEnd,            ///< token: first token of the op
  kAlias,            ///< token `#name`; its value precedes
  kModuleBegin,      ///< token `@name`; its kAttributes, kOperands and kResults precede
  kModuleEnd,        ///< token `}`
};

std::string_view enumerator_name(NodeKind kind);

struct Node {
  std::uint32_t token = 0;  ///< index into the unit's tokens
  std::uint32_t kind_and_count = 0;

  Node() = default;
  Node(NodeKind kind, std::uint32_t first_token, std::uint32_t number)
      : token(first_token), kind_and_count(static_cast<std::uint32_t>(kind) | number << 8) {}

  NodeKind kind() const { return static_cast<NodeKind>(kind_and_count & 0xff); }
  std::uint32_t count() const { return kind_and_count >> 8; }
};
static_assert(sizeof(Node) == 8);

/// A part of a file that is complete in itself: a module head, one top-level op with all its
/// regions, a module end, or an alias definition. Offsets are relative to `base`, so a unit can be
/// parsed, kept or released without the others.
class Unit {
 public:
  Unit(SourcePos base, std::span<const Token> tokens, std::span<const Node> nodes);

  SourcePos base() const { return base_; }
  /// Has the unit begin at another place of the source space.
  void move_to(SourcePos base) { base_ = base; }
  std::span<const Token> tokens() const { return {tokens_.get(), token_count_}; }
  std::span<const Node> nodes() const { return {nodes_.get(), node_count_}; }
  Span span(std::uint32_t token) const {
    return {base_ + tokens_[token].offset, base_ + tokens_[token].end()};
  }
  /// Bytes held by this unit.
  std::size_t memory() const { return token_count_ * sizeof(Token) + node_count_ * sizeof(Node); }

 private:
  SourcePos base_;
  std::uint32_t token_count_;
  std::uint32_t node_count_;
  std::unique_ptr<Token[]> tokens_;
  std::unique_ptr<Node[]> nodes_;
};

/// The tree of one text. Borrows the text from its SourceFile.
class SyntaxTree {
 public:
  explicit SyntaxTree(const SourceFile& file, std::vector<Unit> units = {})
      : file_(&file), units_(std::move(units)) {}

  const SourceFile& file() const { return *file_; }
  std::span<const Unit> units() const { return units_; }
  std::string_view text(const Unit& unit, std::uint32_t token) const {
    return file_->slice(unit.span(token));
  }
  void add(Unit unit) { units_.push_back(std::move(unit)); }
  /// Removes the units from the tree and returns them.
  std::vector<Unit> take_units() { return std::exchange(units_, {}); }

 private:
  const SourceFile* file_;
  std::vector<Unit> units_;
};

// Text to syntax tree.

/// Deepest nesting of bodies, lists and brackets accepted.
inline constexpr std::uint32_t kMaxNesting = 256;

/// What the uses of aliases in a text may stand for, written out: so many bytes, or so many times
/// the size of the text where that is more.
inline constexpr std::uint64_t kMostAliasedBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMostAliasedTimes = 64;

/// The whole tree; none when the text has an error (all errors up to the limit of `diagnostics`
/// are reported: the parser goes on at the next op).
std::optional<SyntaxTree> parse(const SourceFile& file, Diagnostics& diagnostics);

/// As parse, but delivers each unit as soon as it is complete and keeps none. After an error no
/// further unit is delivered. `deliver` returns false to stop early. Returns true when the whole
/// text was parsed without an error.
bool parse_units(const SourceFile& file, Diagnostics& diagnostics,
                 const std::function<bool(Unit&&)>& deliver);

/// Whether an unquoted string of this text means the same in a portable module.
bool is_bare_word(std::string_view text);
/// Whether text can name an op so: `dialect.path.Name`, or `linalg.Device.` and nearly any text.
bool is_op_name(std::string_view text);

/// Adds the text of a file, or of standard input for "-", to the sources; never null. Refuses
/// binary files.
Result<const SourceFile*> read_source(const std::string& path, SourceManager& sources);

/// Tokens of a whole text in order, for listings; lexical errors are reported and skipped.
std::vector<Token> scan(const SourceFile& file, Diagnostics& diagnostics);

}  // namespace mir

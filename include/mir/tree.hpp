// The lossless syntax tree: a flat list of units.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "mir/source.hpp"
#include "mir/token.hpp"

namespace mir {

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
  kOperands,         ///< count: number of kValue
  kResults,          ///< count: number of kValue
  kLeaf,             ///< token: first token of a scalar attribute value; count: number of tokens
  kArray,            ///< count: number of element values
  kDictEntry,        ///< token: key; its value precedes
  kDict,             ///< count: number of kDictEntry
  kSlot,             ///< token: key of a QuantAnnotation slot; its value precedes
  kEmptySlot,        ///< a QuantAnnotation slot with nothing in it
  kQuantAnnotation,  ///< count: number of slots, empty ones included
  kAttribute,        ///< token: key; its value precedes
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

/// A part of a file that stands alone: a module head, one top-level op with all its regions, a
/// module end, or an alias definition. Offsets are relative to `base`, so a unit can be parsed,
/// kept or released without the others.
class Unit {
 public:
  Unit(SourcePos base, std::span<const Token> tokens, std::span<const Node> nodes);

  SourcePos base() const { return base_; }
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
  explicit SyntaxTree(const SourceFile& file) : file_(&file) {}

  const SourceFile& file() const { return *file_; }
  std::span<const Unit> units() const { return units_; }
  std::string_view text(const Unit& unit, std::uint32_t token) const {
    return file_->slice(unit.span(token));
  }
  void add(Unit unit) { units_.push_back(std::move(unit)); }

 private:
  const SourceFile* file_;
  std::vector<Unit> units_;
};

}  // namespace mir

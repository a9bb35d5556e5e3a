// The syntax tree of a chat template.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chat/value.hpp"
#include "mir/diagnostic.hpp"

namespace mir::chat {

struct Node;
using NodePtr = std::unique_ptr<Node>;

enum class NodeKind : std::uint8_t {
  // Expressions.
  kConstant,     ///< value
  kName,         ///< text
  kList,         ///< parts
  kTuple,        ///< parts
  kDict,         ///< parts: key, value, key, value
  kAttribute,    ///< parts: object; text
  kItem,         ///< parts: object, key
  kSlice,        ///< parts: object, begin, end, step; null: not stated
  kCall,         ///< parts: callee, arguments; keywords
  kFilter,       ///< parts: operand (null in a filter block), arguments; keywords; text
  kTest,         ///< parts: operand, arguments; keywords; text
  kNot,          ///< parts: operand
  kNegative,     ///< parts: operand
  kPositive,     ///< parts: operand
  kBinary,       ///< parts: left, right; text is the operator
  kAnd,          ///< parts: left, right
  kOr,           ///< parts: left, right
  kConcat,       ///< parts
  kCompare,      ///< parts: left, right, right of the next one; operators
  kConditional,  ///< parts: condition, value, other value or null
  // Statements.
  kText,         ///< text
  kPrint,        ///< parts: expression
  kIf,           ///< parts: condition, body, condition, body, ..., body of else or null
  kFor,          ///< parts: target, iterable, condition or null, body, body of else or null
  kSet,          ///< parts: target, value
  kSetBlock,     ///< parts: target, body
  kMacro,        ///< parts: body, defaults of the last parameters; text; names
  kFilterBlock,  ///< parts: filter, body
  kBreak,
  kContinue,
  kBlock,  ///< parts: statements
};

struct Node {
  NodeKind kind{};
  Span at{};
  std::string text{};
  Value value{None{}};
  std::vector<NodePtr> parts{};
  std::vector<std::pair<std::string, NodePtr>> keywords{};
  std::vector<std::string> names{};  ///< parameters of a macro, operators of a comparison
  std::size_t depth = 1;             ///< levels of nodes, this one included
};

struct Frame;

/// A macro of a template, or a function if there is no node. The node belongs to the template.
struct Macro {
  const Node* node = nullptr;
  const Frame* scope = nullptr;  ///< where it was defined, which it can read
};

}  // namespace mir::chat

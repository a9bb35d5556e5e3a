// Types, attributes and ops with variables, and graphs of them. docs/patterns.md describes
// variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/attribute_keys.hpp"
#include "mir/op.hpp"
#include "patterns/expression.hpp"

namespace mir::patterns {

/// An attribute with variables in it.
struct AttributeTemplate {
  enum class Kind : std::uint8_t {
    kLiteral,
    kAny,         ///< `_`: any value, also none; only in a match
    kVariable,    ///< `$a`, or `T`
    kExpression,  ///< `$a+1`
    kArray,
    kDict,
    kDialect,  ///< `#name<...>`
  };
  Kind kind = Kind::kLiteral;
  const Attr* literal = nullptr;
  std::uint32_t variable = 0;
  Expression expression{};
  std::vector<AttributeTemplate> elements{};  ///< of an array, a dictionary or `#name<...>`
  std::vector<Symbol> keys{};                 ///< of a dictionary
  std::string name{};                         ///< of `#name<...>`
  bool is_pack = false;                       ///< a variable that stands for several elements
};

/// A name in a type or an op: an element type or a device.
struct NameTemplate {
  std::optional<std::uint32_t> variable{};  ///< none: the name itself
  Symbol name{};
};

/// Calls `visit(number)` for each variable in an attribute.
template <class Visit>
void for_each_variable(const AttributeTemplate& attribute, const Visit& visit) {
  using enum AttributeTemplate::Kind;
  if (attribute.kind == kVariable) visit(attribute.variable);
  if (attribute.kind == kExpression) for_each_variable(attribute.expression, visit);
  for (const AttributeTemplate& each : attribute.elements) for_each_variable(each, visit);
}

/// A type with variables.
struct TypeTemplate {
  bool is_any = false;
  const Type* exact = nullptr;  ///< of a type that is no tensor
  std::string kind{};           ///< of a dialect's type with variables: "moe.tile"
  AttributeTemplate extents{};  ///< an array: of extents, or of parameters
  NameTemplate dtype{}, device{};
  /// No value: the type does not mention one. The literal `null`: the type has none.
  std::optional<AttributeTemplate> encoding{};
};

/// A value of a region.
struct ValueTemplate {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  TypeTemplate type{};
  std::string name{};        ///< without `%`
  std::uint32_t op = kNone;  ///< that defines it
  std::uint32_t result = 0;  ///< which one of the op's
  bool is_input = false;
  std::optional<AttributeTemplate> constant{};  ///< of a constant
};

/// An op of a region.
struct OpTemplate {
  OpKind kind{};
  const OpKindInfo* info = nullptr;
  std::optional<NameTemplate> device{};  ///< none: the dialect has none
  struct Attribute {
    const AttrRow* row = nullptr;
    Symbol key;
    AttributeTemplate value;
    const Attr* by_default = nullptr;  ///< the value of an op that does not state it; null: none
  };
  std::vector<Attribute> attributes{};  ///< stated ones
  /// Of an entry `_`: all others that an op states, as a dictionary. No value: there is no entry.
  std::optional<AttributeTemplate> others{};
  struct Default {
    const AttrRow* row = nullptr;
    Symbol key;
    const Attr* value = nullptr;  ///< null: must be absent
  };
  std::vector<Default> defaults{};  ///< of a match: of the other attributes of the row
  std::optional<AttributeTemplate> path{};
  std::string path_suffix{};  ///< after the name that `path` is, perhaps with variables
  std::vector<std::pair<std::string, std::uint32_t>> path_variables{};  ///< `$i`, in the suffix
  bool takes_any_path = true;
  bool is_commutative = false;
  std::vector<std::uint32_t> operands{}, results{};  ///< values
  /// A region of an op of control flow in a body. Its ops see the values around them, and the last
  /// one ends it.
  struct Region {
    std::vector<std::uint32_t> arguments;  ///< values
    std::vector<OpTemplate> ops;
  };
  std::vector<Region> regions{};
  std::vector<RegionEdge> flow{};  ///< between the op and its regions
  /// Condition in a body. An op whose condition is false is left out: its results are its operands.
  std::optional<Expression> condition{};
  /// Repetition in a body: the op so many times, each on the results of the one before, with its
  /// number in a variable.
  struct Repeat {
    std::uint32_t variable = 0;
    Expression count{};
  };
  std::optional<Repeat> repeat{};
  /// The number of a repeated op, once it is unfolded.
  std::optional<std::pair<std::uint32_t, const Attr*>> number{};
  Span at{};
};

/// Attributes of any op in a body: how often it runs, and whether it does.
inline constexpr std::string_view kRepeatKey = "repeat", kOnlyIfKey = "only_if";

/// Calls `visit(op)` for each of the ops and those in their regions, in the order of the text.
template <class Ops, class Visit>
void visit_ops(Ops& ops, const Visit& visit) {
  for (auto& op : ops) {
    visit(op);
    for (auto& region : op.regions) visit_ops(region.ops, visit);
  }
}

/// One region: a graph of ops with variables.
struct GraphTemplate {
  std::vector<ValueTemplate> values{};  ///< the inputs come first
  std::size_t input_count = 0;
  std::vector<OpTemplate> ops{};         ///< in the order of the text
  std::vector<std::uint32_t> results{};  ///< values
  bool is_folded = false;                ///< ops may have conditions or be repeated
};

struct Condition {
  std::string text{};  ///< as people wrote it, or the reason that they gave
  Expression expression{};
};

}  // namespace mir::patterns

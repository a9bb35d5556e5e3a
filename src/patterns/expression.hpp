// Expressions over the variables and values of a pattern: `$m * $n`, `compose($p, $q)`,
// `users(%a) == 1`. docs/patterns.md describes them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/extent_prover.hpp"
#include "mir/op.hpp"

namespace mir::patterns {

/// True if the name stands for an element type or a device: a capital letter, perhaps with a digit.
bool is_name_variable(std::string_view name);

/// Bindings of a match that an expression reads. Numbers are those that the scope of its text
/// assigned.
struct Bindings {
  std::vector<const Attr*> variables;  ///< null: not bound
  std::vector<Value*> values;          ///< null: not bound
  /// Extents may be `?`, which equals every extent and binds nothing; an extent without a value is
  /// one. So types are inferred; patterns match what is known.
  bool takes_unknown = false;
  /// Decides comparisons of extents for all declared values of their symbols. Null: a comparison is
  /// decided where the difference is a number.
  ExtentProver* prover = nullptr;
};

/// The variables and values that the text of an expression may name.
class Scope {
 public:
  virtual ~Scope() = default;
  /// The number of a variable: `$n` or, for element types and devices, `T`. No value if the text
  /// may not name it.
  virtual std::optional<std::uint32_t> variable(std::string_view name) = 0;
  /// The number of a value, without `%`.
  virtual std::optional<std::uint32_t> value(std::string_view name) = 0;
};

struct Function;

/// A parsed expression. Its value is an attribute: an integer or extent, a number, a boolean, a
/// word, a type, or an array.
struct Expression {
  enum class Kind : std::uint8_t {
    kLiteral,
    kVariable,
    kValue,  ///< only as an argument of a function
    kCall,
    kList,
    kElement,  ///< `list[i]`
    kNegate,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kEqual,
    kDiffers,
    kLess,
    kAtMost,
    kGreater,
    kAtLeast,
    kIn,  ///< `x in [a, b]`
    kNot,
    kAnd,
    kOr,
  };
  Kind kind = Kind::kLiteral;
  const Attr* literal = nullptr;
  std::uint32_t number = 0;  ///< of a variable or value
  bool is_spliced = false;   ///< of a variable in a list: stands for all elements of its own list
  const Function* function = nullptr;
  std::vector<Expression> parts{};
};

/// The number of a variable. Of a name that is not known, `$n..` is the list that `$n` is bound to,
/// and
/// `$n` the list of the pack `$n..`.
std::optional<std::uint32_t> find_variable(Scope& scope, std::string_view name);

/// Reads a whole text. The error says what is wrong and at which character.
Result<Expression> parse_expression(std::string_view text, Scope& scope, IRContext& context);

/// The value of an expression. Null if it has none: an extent is not known, two symbolic extents
/// cannot be compared, a list is too short, numbers overflow.
const Attr* evaluate(const Expression& expression, const Bindings& bindings, IRContext& context);

/// Calls `visit(number)` for each variable in an expression.
void for_each_variable(const Expression& expression,
                       const std::function<void(std::uint32_t)>& visit);

/// True if a condition holds. What is not known does not.
bool holds(const Expression& condition, const Bindings& bindings, IRContext& context);

/// A function of the language of expressions.
struct Function {
  std::string_view name;
  std::string_view arguments;  ///< for documents: "a list, an integer"
  std::string_view summary;
  std::size_t arity = 1;
  bool takes_value = false;  ///< its one argument is a value
  const Attr* (*of_value)(Value&, IRContext&) = nullptr;
  const Attr* (*of)(std::span<const Attr* const>, IRContext&) = nullptr;
  bool selects = false;    ///< its first argument decides which of the others is evaluated
  bool asks_kind = false;  ///< false for an argument that has no value
};
/// All functions, by name.
std::span<const Function> functions();

/// The attribute that stands for an extent: an integer if it is a number. Null if it is unknown.
const Attr* attribute_of(Dim extent, IRContext& context);
/// The extent that an integer or an extent stands for.
std::optional<Dim> extent_of(const Attr& value);
/// True if two attributes are the same value: equal, or equal as numbers.
bool are_equal(const Attr& a, const Attr& b, IRContext& context);

}  // namespace mir::patterns

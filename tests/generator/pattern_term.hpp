// The values of a pattern, as terms over its inputs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mir::test {

struct Term;
using TermPtr = std::shared_ptr<const Term>;
using TermAttributes = std::vector<std::pair<std::string, std::string>>;
using TermExtents = std::vector<std::string>;

/// A value. Terms of equal keys have equal values.
struct Term {
  enum class Kind : std::uint8_t { kInput, kConstant, kOp };
  Kind kind = Kind::kInput;
  std::string name;  ///< of the input, the number of a constant, "NegOp"
  TermAttributes attributes{};
  std::vector<TermPtr> operands{};
  int result = 0, results = 1;  ///< of an op
  std::string dtype{};          ///< a name, or a variable
  std::string shape{};          ///< terms of equal texts have equal shapes
  std::optional<TermExtents> dims{};
  /// A NaN in it is the one that arithmetic stores.
  bool has_one_nan = false;
  /// Its magnitude is at most that of the inputs.
  bool is_calm = true;
  std::string key{};

  bool is(std::string_view op) const { return kind == Kind::kOp && name == op; }
  std::string_view attribute(std::string_view attribute) const;
};

TermPtr input_term(std::string name, std::string dtype, std::string shape,
                   std::optional<TermExtents> dims);
/// A constant with one number, which broadcasts.
TermPtr constant_term(std::string number, const TermPtr& like);
/// Result `result` of an op of `results`.
TermPtr op_term(std::string name, TermAttributes attributes, std::vector<TermPtr> operands,
                int result = 0, int results = 1);
/// The same op with other operands.
TermPtr with_operands(const Term& term, std::vector<TermPtr> operands);

/// True for ops that move elements and keep all bits.
bool is_move(const Term& term);
/// True for elementwise ops of one operand without attributes, or with attributes of numbers.
bool is_unary(const Term& term);
/// True for elementwise ops of two operands.
bool is_binary(const Term& term);

/// The places of all terms inside a term, as the operands that lead to them.
std::vector<std::vector<std::size_t>> places_in(const TermPtr& term);
const TermPtr& at_place(const TermPtr& term, const std::vector<std::size_t>& place);
/// The term with another one at a place.
TermPtr replaced_at(const TermPtr& term, const std::vector<std::size_t>& place, TermPtr with);

/// The values of variables: "$a" is "2", "$n.." is "2, 3", "T" is "Int8".
using Assignment = std::map<std::string, std::string>;
/// The text with the values of its variables.
std::string substituted(std::string_view text, const Assignment& values);
/// The variables of a text, `$a`. Packs lack their dots.
std::vector<std::string> variables_in(std::string_view text);

/// What a graph of terms is written with.
struct TermStyle {
  const Assignment* values = nullptr;  ///< none: variables are written
  std::string device = "D";
  bool shares = true;            ///< equal terms are one op
  bool types_constants = false;  ///< `%c:tensor<[1], T, D>[constant:[1]]`
  std::string indent = "            ";
};

/// The ops of terms in the order of their operands.
struct TermText {
  std::string ops;
  std::vector<std::string> results;  ///< the names of the terms, "%v3"
  std::map<std::string, int> uses;   ///< of results of ops, by the ops
  int count = 0;                     ///< ops
  int commutative = 0;               ///< of them
};
TermText text_of(const std::vector<TermPtr>& terms, const TermStyle& style);

/// The inputs of terms by name, in the order in which they occur.
std::vector<TermPtr> inputs_of(const std::vector<TermPtr>& terms);
/// The variables in attributes and constants of terms.
std::vector<std::string> variables_of(const std::vector<TermPtr>& terms);
bool has_constant(const std::vector<TermPtr>& terms);
/// Whether an op depends on the order of elements.
bool has_move(const std::vector<TermPtr>& terms);

}  // namespace mir::test

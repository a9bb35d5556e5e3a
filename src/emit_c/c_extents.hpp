// Indices and conditions as expressions of C, and their ranges.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "extents/dim_expr.hpp"
#include "ir/symbol_declarations.hpp"

namespace mir::c {

/// The numbers from `least` to `most`; empty if `most` is less.
struct Interval {
  std::int64_t least = 0, most = 0;
};

/// The symbols of a generic op as variables of C.
class CSymbols {
 public:
  struct Variable {
    Symbol symbol;
    std::string name;
    Interval range;
    std::size_t level = 0;  ///< how many loops are around the place where it has a value
  };

  std::vector<Variable> variables;

  const Variable* find(Symbol symbol) const;
  /// The range of all values. No value if 64 bits may not hold one, or for an unknown symbol.
  std::optional<Interval> range(Dim extent) const;
  /// An expression that needs no parentheses as an operand of '<', '+' and an argument; `-` and `*`
  /// need them unless is_atom().
  std::string text(Dim extent) const;
  /// The greatest level of its symbols; 0 if there are none.
  std::size_t level(Dim extent, const DimTable& dims) const;

 private:
  std::optional<Interval> range(const Polynomial& sum) const;
  std::optional<Interval> range(const DimExpr& factor) const;
  std::string text(const Polynomial& sum) const;
  std::string text(const DimExpr& factor) const;
};

/// True if the text is a name or a number.
bool is_atom(std::string_view text);
/// The text as an operand of any operator.
std::string operand_text(std::string text);
/// True if every value of a relation's margin that the range allows fulfils it.
bool always_holds(const SymbolRelation& relation, const Interval& margin);

}  // namespace mir::c

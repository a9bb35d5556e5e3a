// Writes polynomials of extents in C, and computes their ranges over boxes.
#include "emit_c/c_extents.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mir::c {

namespace {

std::optional<Interval> product(const Interval& a, const Interval& b) {
  const std::optional<std::int64_t> corners[] = {
      checked_multiply(a.least, b.least), checked_multiply(a.least, b.most),
      checked_multiply(a.most, b.least), checked_multiply(a.most, b.most)};
  Interval made{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  for (const auto& each : corners) {
    if (!each) return std::nullopt;
    made = {std::min(made.least, *each), std::max(made.most, *each)};
  }
  return made;
}

std::optional<Interval> sum(const Interval& a, const Interval& b) {
  const auto least = checked_add(a.least, b.least), most = checked_add(a.most, b.most);
  return least && most ? std::optional(Interval{*least, *most}) : std::nullopt;
}

}  // namespace

bool is_atom(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

std::string operand_text(std::string text) {
  return is_atom(text) ? std::move(text) : fmt::format("({})", text);
}

bool always_holds(const SymbolRelation& relation, const Interval& margin) {
  return relation.is_equation() ? margin.least == 0 && margin.most == 0 : margin.least >= 0;
}

const CSymbols::Variable* CSymbols::find(Symbol symbol) const {
  const auto found = std::ranges::find(variables, symbol, &Variable::symbol);
  return found == variables.end() ? nullptr : &*found;
}

std::size_t CSymbols::level(Dim extent, const DimTable& dims) const {
  std::size_t level = 0;
  for (const Symbol each : dims.symbols(extent)) {
    const Variable* variable = find(each);
    if (variable != nullptr) level = std::max(level, variable->level);
  }
  return level;
}

// -- ranges ---------------------------------------------------------------------------------------

std::optional<Interval> CSymbols::range(Dim extent) const {
  if (extent.is_constant()) return Interval{extent.constant(), extent.constant()};
  if (extent.is_unknown()) return std::nullopt;
  return range(polynomial_of(extent.expr()));
}

std::optional<Interval> CSymbols::range(const Polynomial& polynomial) const {
  // Text has the terms in this order, so every sum on the way is in range, too.
  std::optional<Interval> all = Interval{0, 0};
  for (const DimTerm& term : polynomial.terms) {
    std::optional<Interval> part = Interval{term.coefficient, term.coefficient};
    for (const DimExpr* each : term.factors) {
      const auto factor = range(*each);
      part = part && factor ? product(*part, *factor) : std::nullopt;
    }
    all = all && part ? sum(*all, *part) : std::nullopt;
  }
  return all ? sum(*all, {polynomial.constant, polynomial.constant}) : std::nullopt;
}

std::optional<Interval> CSymbols::range(const DimExpr& factor) const {
  switch (factor.kind) {
    case DimExpr::Kind::kSymbol: {
      const Variable* variable = find(factor.name);
      return variable == nullptr ? std::nullopt : std::optional(variable->range);
    }
    case DimExpr::Kind::kQuotient: {
      const auto left = range(factor.left), right = range(factor.right);
      if (!left || !right || right->least <= 0) return std::nullopt;
      const std::optional<std::int64_t> ends[] = {
          floor_quotient(left->least, right->least), floor_quotient(left->least, right->most),
          floor_quotient(left->most, right->least), floor_quotient(left->most, right->most)};
      return Interval{std::min(*ends[0], *ends[1]), std::max(*ends[2], *ends[3])};
    }
    case DimExpr::Kind::kMaximum: {
      const auto left = range(factor.left);
      if (!left || !factor.right.is_zero()) return std::nullopt;
      return Interval{std::max<std::int64_t>(left->least, 0),
                      std::max<std::int64_t>(left->most, 0)};
    }
    default:
      return std::nullopt;
  }
}

// -- text -----------------------------------------------------------------------------------------

std::string CSymbols::text(Dim extent) const {
  return extent.is_constant() ? fmt::to_string(extent.constant())
                              : text(polynomial_of(extent.expr()));
}

std::string CSymbols::text(const Polynomial& polynomial) const {
  std::string made;
  for (const DimTerm& term : polynomial.terms) {
    const bool is_negative = term.coefficient < 0;
    if (!made.empty()) {
      made += is_negative ? " - " : " + ";
    } else if (is_negative) {
      made += '-';
    }
    const std::uint64_t factor = is_negative ? 0 - static_cast<std::uint64_t>(term.coefficient)
                                             : static_cast<std::uint64_t>(term.coefficient);
    if (factor != 1) made += fmt::format("{} * ", factor);
    for (std::size_t i = 0; i < term.factors.size(); ++i) {
      made += fmt::format("{}{}", i == 0 ? "" : " * ", text(*term.factors[i]));
    }
  }
  if (made.empty()) return fmt::to_string(polynomial.constant);
  if (polynomial.constant > 0) made += fmt::format(" + {}", polynomial.constant);
  if (polynomial.constant < 0) {
    made += fmt::format(" - {}", 0 - static_cast<std::uint64_t>(polynomial.constant));
  }
  return made;
}

/// A text that needs no parentheses.
std::string CSymbols::text(const DimExpr& factor) const {
  if (factor.kind == DimExpr::Kind::kSymbol) {
    const Variable* variable = find(factor.name);
    return variable == nullptr ? std::string("0") : variable->name;
  }
  const std::string left = text(factor.left), right = text(factor.right);
  if (factor.kind == DimExpr::Kind::kMaximum)
    return fmt::format("mir_greater({}, {})", left, right);
  const auto dividend = range(factor.left);
  if (dividend && dividend->least >= 0) {
    return fmt::format("({} / {})", operand_text(left), operand_text(right));
  }
  return fmt::format("mir_floor_div({}, {})", left, right);
}

}  // namespace mir::c

// Equations between terms, and in which sense they hold.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/rewrite_patterns.hpp"
#include "op_templates.hpp"
#include "pattern_term.hpp"

namespace mir::test {

/// The element types of which a pattern is an equation.
struct TypeDomain {
  std::string_view name;  ///< as a condition names it: "is_float(T)"; empty: none is needed
  std::string_view text;  ///< "T", or the name of the one type
  std::vector<std::string_view> dtypes;
};

/// What a variable of an attribute stands for.
struct TermVariable {
  enum class Kind : std::uint8_t { kAxis, kPermutation, kNumber, kShape, kComposed };
  std::string name;
  Kind kind;
  std::string first{}, second{};  ///< of a composed permutation
};

/// What is shared by all terms of a pattern that is being made.
struct TermScope {
  Random& random;
  const TypeDomain& domain;
  bool is_ranked = false;  ///< ranks are known
  bool is_typed = false;   ///< inputs have types
  std::vector<TermVariable> variables{};

  std::uint64_t below(std::uint64_t bound) { return test::below(random, bound); }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  std::string new_variable(TermVariable::Kind kind, std::string first = "",
                           std::string second = "");
  bool is_float(const Term& term) const;
  bool is_integer(const Term& term) const;
  bool is_signed(const Term& term) const;  ///< floats, too
  bool is_number(const Term& term) const;
};

/// An equal term, and how nearly it is equal.
struct EqualTerm {
  TermPtr term;
  RewriteClaim::Kind claim = RewriteClaim::Kind::kBits;
};

/// Both sides of a bound, for inputs of magnitude kCalm at most: that of all bounded equations.
inline constexpr double kBoundAbsolute = 0.05, kBoundRelative = 1e-5, kCalm = 100;

struct TermRule {
  std::string_view name;
  bool is_of_any = false;  ///< applies to most terms
  /// No value where the equation does not apply.
  std::optional<EqualTerm> (*apply)(const TermPtr& term, TermScope& scope);
};
std::span<const TermRule> term_rules();

/// A random move of elements of a term, with axes and extents that it has.
std::optional<TermPtr> moved(const TermPtr& term, TermScope& scope);

/// The term in a type that has all numbers of its own, if one is known.
std::optional<TermPtr> widened(const TermPtr& term, TermScope& scope);

}  // namespace mir::test

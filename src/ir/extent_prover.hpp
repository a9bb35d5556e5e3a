// Proofs of conditions on symbolic extents, for all values that a module declares for its symbols.
//
// The steps, of which the first one with an answer decides:
//   1. Normal form. A symbol with a divisor m is written as m times a new one, so that the normal
//      form of extents knows what m divides. A relation `$H % $G == 0` does the same, and a symbol
//      that an equation determines is replaced.
//   2. Bounds. The difference is written in distances from the ends of the ranges, and quotients by
//      constants are replaced by what bounds them. Multiples of relations are subtracted.
//   3. Search. All values, if they are few; otherwise ends of ranges, their neighbours and small
//      values. A counterexample is made smaller before it is returned.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/symbol_declarations.hpp"

namespace mir {

class IRContext;

enum class ExtentRelation : std::uint8_t {
  kEqual,       ///< a == b
  kAtLeast,     ///< a >= b
  kDivides,     ///< b divides a
  kEqualOrOne,  ///< a == b or a == 1
  kBroadcasts,  ///< a == b, a == 1 or b == 1
  kDefined,     ///< a has a value: no divisor is 0; b is ignored
};

enum class ExtentVerdict : std::uint8_t { kProved, kRefuted, kUndecided };

struct ExtentProof {
  ExtentVerdict verdict = ExtentVerdict::kUndecided;
  /// Values of the symbols for which the condition does not hold: the least by their sum, then in
  /// order of the symbols' names, among those that were tried.
  DimBindings counterexample{};
};

/// A symbol of a condition, with the factors that its `multiple` is multiplied by.
struct ExtentVariable {
  SymbolDeclaration declaration;
  std::int64_t first = 0, last = 0;
  bool is_bounded() const { return last != SymbolDeclaration::kUnbounded; }
};
using ExtentVariables = std::vector<ExtentVariable>;  // in order of their names

/// Not thread-safe. The declarations are those that the module has when the prover is made; a
/// symbol without a declaration may be 0 or more. Bounds on such symbols are never refuted: which
/// values a run admits is not stated.
class ExtentProver {
 public:
  /// The most combinations of values that are tried one by one.
  static constexpr std::int64_t kMostTrials = 20'000;

  ExtentProver(IRContext& context, SymbolDeclarations declarations);
  /// No value if the module declares no symbols, so that callers pay nothing for it.
  static std::optional<ExtentProver> of(const Module& module);

  /// True if the relation was proved for all values of the symbols, of which none is declared: from
  /// normal forms and bounds alone. Neither extent may be unknown.
  static bool holds_always(IRContext& context, ExtentRelation relation, Dim a, Dim b);

  /// Neither extent may be unknown.
  const ExtentProof& prove(ExtentRelation relation, Dim a, Dim b);
  bool is_proved(ExtentRelation relation, Dim a, Dim b) {
    return prove(relation, a, b).verdict == ExtentVerdict::kProved;
  }
  /// Tells if a declaration admits each value that the extent has for declared values of its
  /// symbols. Undecided for an unknown extent.
  ExtentVerdict admits(const SymbolDeclaration& declaration, Dim extent);
  const SymbolDeclarations& declarations() const { return declarations_; }
  /// Tells if a relation holds for the extents that are passed for its symbols. Undecided for an
  /// unknown extent, and if a symbol is not passed.
  ExtentVerdict admits(const SymbolRelation& relation,
                       std::span<const std::pair<Symbol, Dim>> passed);
  /// True if no values of the symbols that satisfy the declarations and the other relations satisfy
  /// this one.
  bool is_impossible(const SymbolRelation& relation) const;
  /// The first relation that no values satisfy if these symbols have these values. Null if there is
  /// none.
  const SymbolRelation* impossible_for(const DimBindings& values) const;
  /// True if the types are compatible, with extents that are equal for all declared values.
  bool agree(const Type* a, const Type* b);
  /// "$S = 33 makes them 33 and 32" for a refuted relation.
  std::string counterexample_text(const ExtentProof& proof, Dim a, Dim b) const;
  /// "$S >= 4" and the like.
  std::string text(ExtentRelation relation, Dim a, Dim b) const;

  /// Conditions that were neither proved nor refuted since the last call, for a report.
  void note_undecided(std::string condition);
  std::vector<std::string> take_undecided() { return std::exchange(undecided_, {}); }
  void forget_undecided() { undecided_.clear(); }

 private:
  using Replacements = std::vector<std::pair<Symbol, Dim>>;
  /// The symbols of a proof with their ranges and relations.
  struct Problem {
    ExtentVariables variables;
    std::vector<const SymbolRelation*> relations{};
    Replacements solved{};     ///< symbols that relations express by others
    std::vector<Dim> facts{};  ///< extents that are at least 0, in factors
  };

  std::vector<Symbol> symbols_of(Dim a, Dim b) const;
  ExtentVariables variables_of(std::vector<Symbol> symbols) const;
  /// The relations that these symbols have to do with, whose symbols are added to them.
  std::vector<const SymbolRelation*> relations_of(std::vector<Symbol>& symbols) const;
  Problem problem_of(std::vector<Symbol> symbols) const;
  /// Takes relations that express a symbol by others into account, then the others.
  void use_relations(Problem& problem) const;
  void solve(Problem& problem, const SymbolRelation& relation) const;
  void solve_equation(Problem& problem, Symbol symbol, Dim value) const;
  void solve_division(Problem& problem, Dim dividend, Dim divisor) const;
  /// Appends what a declaration tells, as extents that are at least 0.
  void add_range(std::vector<Dim>& facts, const SymbolDeclaration& declaration) const;
  void replace_in_solved(Problem& problem, Symbol symbol, Dim value) const;

  Dim replaced(Dim dim, const Replacements& values) const;
  Dim replaced(const Polynomial& sum, const Replacements& values) const;
  /// In factors: each symbol times its divisor, and without those that relations express by others.
  Dim in_factors(Dim dim, const Problem& problem) const;

  bool are_declared(std::span<const Symbol> symbols) const;
  ExtentProof decide(ExtentRelation relation, Dim a, Dim b);
  bool holds_by_form(ExtentRelation relation, Dim a, Dim b, const Problem& problem) const;
  bool is_divisible(Dim a, Dim b, const Problem& problem) const;
  bool is_at_least(Dim a, Dim b, const Problem& problem) const;
  bool is_equal(Dim a, Dim b, const Problem& problem) const;
  bool is_defined(const Polynomial& sum, const Problem& problem) const;
  bool is_impossible(const SymbolRelation& relation, const Problem& problem) const;

  /// True if the relation holds for the values. No value where an extent has none.
  std::optional<bool> holds(ExtentRelation relation, Dim a, Dim b, const DimBindings& values) const;
  /// The values of these symbols that satisfy the relations among them count.
  ExtentProof search(ExtentRelation relation, Dim a, Dim b, const std::vector<Symbol>& symbols,
                     std::span<const SymbolRelation* const> relations) const;
  bool satisfy(std::span<const SymbolRelation* const> relations, const DimBindings& values) const;

  IRContext& context_;
  SymbolDeclarations declarations_;
  using Goal =
      std::tuple<ExtentRelation, const DimExpr*, std::int64_t, const DimExpr*, std::int64_t>;
  std::map<Goal, ExtentProof> proofs_;
  std::vector<std::string> undecided_;
};

}  // namespace mir

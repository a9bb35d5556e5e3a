// Proofs of conditions on symbolic extents, for all values that a module declares for its symbols.
//
// The steps, of which the first one with an answer decides:
//   1. Normal form. A symbol with a divisor m is written as m times a new one, so that the normal
//      form of extents knows what m divides.
//   2. Bounds. The difference is written in distances from the ends of the ranges, and quotients by
//      constants are replaced by what bounds them.
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
  struct Variable {
    SymbolDeclaration declaration;
    std::int64_t first = 0, last = 0;  ///< of the factor that `multiple` is multiplied by
    bool is_bounded() const { return last != SymbolDeclaration::kUnbounded; }
  };
  using Variables = std::vector<Variable>;  // in order of their names

  Variables variables_of(Dim a, Dim b) const;
  Dim replaced(Dim dim, const std::vector<std::pair<Symbol, Dim>>& values) const;
  Dim replaced(const Polynomial& sum, const std::vector<std::pair<Symbol, Dim>>& values) const;
  /// In factors: each symbol times its divisor.
  Dim in_factors(Dim dim, const Variables& variables) const;

  bool are_declared(const Variables& variables) const;
  ExtentProof decide(ExtentRelation relation, Dim a, Dim b);
  bool holds_by_form(ExtentRelation relation, Dim a, Dim b, const Variables& variables);
  bool is_divisible(Dim a, Dim b, const Variables& variables);
  bool is_at_least(Dim a, Dim b, const Variables& variables);
  bool is_equal(Dim a, Dim b, const Variables& variables);
  bool is_defined(const Polynomial& sum, const Variables& variables);

  /// True if the relation holds for the values. No value where an extent has none.
  std::optional<bool> holds(ExtentRelation relation, Dim a, Dim b, const DimBindings& values) const;
  ExtentProof search(ExtentRelation relation, Dim a, Dim b, const Variables& variables) const;
  ExtentProof try_all(ExtentRelation relation, Dim a, Dim b, const Variables& variables) const;
  ExtentProof try_some(ExtentRelation relation, Dim a, Dim b, const Variables& variables) const;

  IRContext& context_;
  SymbolDeclarations declarations_;
  using Goal =
      std::tuple<ExtentRelation, const DimExpr*, std::int64_t, const DimExpr*, std::int64_t>;
  std::map<Goal, ExtentProof> proofs_;
  std::vector<std::string> undecided_;
};

}  // namespace mir

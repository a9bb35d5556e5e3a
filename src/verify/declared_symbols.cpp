// Values that the head of a module declares for the symbols of its extents.
#include <set>
#include <unordered_set>

#include "ir/extent_walk.hpp"
#include "mir/walk.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

void check_structure(const Attr& symbols, const Op& head, Reporter& reporter) {
  for (const SymbolDeclarationError& error :
       errors_of_symbol_declarations(symbols, reporter.module().context())) {
    Diagnostic* kept =
        reporter.report(ConstraintId::symbol_c4, head, [&] { return error.message; });
    if (kept != nullptr) suggest(*kept, error.nearest);
  }
}

void check_uses(const Op& head, Reporter& reporter) {
  if (!reporter.wants(ConstraintId::symbol_c5)) return;
  const std::set<std::string_view> used = symbols_of_extents(reporter.module());
  for (const SymbolDeclaration& each : symbol_declarations(reporter.module())) {
    const std::string_view name = text(head, each.name);
    if (used.contains(name)) continue;
    Diagnostic* kept = reporter.report(ConstraintId::symbol_c5, head, [&] {
      return fmt::format("no extent of the module has the declared symbol '${}'", name);
    });
    NearestName nearest(name);
    for (const std::string_view symbol : used) nearest.offer(symbol);
    if (kept != nullptr) suggest(*kept, nearest.best());
  }
}

/// Extents against the declarations: each once, where it is met first.
class ExtentChecks {
 public:
  ExtentChecks(Reporter& reporter, ExtentProver& prover) : reporter_(reporter), prover_(prover) {}

  void check(Dim extent, const Op& place) {
    if (!extent.is_symbolic() || extent.is_pack() || !seen_.insert(extent.expr()).second) return;
    if (check(ExtentRelation::kDefined, extent, place)) {
      check(ExtentRelation::kAtLeast, extent, place);
    }
  }

 private:
  bool check(ExtentRelation relation, Dim extent, const Op& place) {
    const ExtentProof& proof = prover_.prove(relation, extent, Dim());
    const auto print = [&] { return prover_.text(relation, extent, Dim()); };
    if (proof.verdict == ExtentVerdict::kRefuted) {
      reporter_.report(ConstraintId::symbol_c6, place, [&] {
        return fmt::format("extent {} is not valid for all values of its symbols: {}",
                           reporter_.module().context().dims().print(extent),
                           prover_.counterexample_text(proof, extent, Dim()));
      });
    } else if (proof.verdict == ExtentVerdict::kUndecided) {
      reporter_.report(ConstraintId::symbol_c7, place, [&] {
        return fmt::format("{} is neither proved nor refuted and is checked at run time", print());
      });
    }
    return proof.verdict != ExtentVerdict::kRefuted;
  }

  Reporter& reporter_;
  ExtentProver& prover_;
  std::unordered_set<const DimExpr*> seen_;
};

/// An op of a pattern or in one: its symbols are variables.
bool is_template(const Op& op) {
  for (const Op* each = &op; each != nullptr; each = each->parent_op()) {
    if (each->has(Trait::kTemplate)) return true;
  }
  return false;
}

}  // namespace

void declared_symbols(Reporter& reporter) {
  const Module& module = reporter.module();
  const Op& head = *module.top();
  const Attr* symbols = head.attribute(key::kSymbols);
  if (symbols == nullptr || symbols->kind() != AttrKind::kDict || !module.is_portable()) return;
  if (module.version() < kSymbolsVersion) return;  // see versions()
  check_structure(*symbols, head, reporter);
  check_uses(head, reporter);
  ExtentProver* prover = reporter.prover();
  if (prover == nullptr || !reporter.wants_any(ConstraintId::symbol_c6, ConstraintId::symbol_c7)) {
    return;
  }
  ExtentChecks checks(reporter, *prover);
  for_each_extent(module, [&](Dim extent, const Op& op) {
    if (!is_template(op)) checks.check(extent, op);
  });
}

}  // namespace mir::checks

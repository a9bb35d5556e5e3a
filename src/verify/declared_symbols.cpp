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

/// Relations against the extents and declarations of the module.
void check_relations(const Attr& where, const Op& head, Reporter& reporter) {
  IRContext& context = reporter.module().context();
  const auto report = [&](const std::function<std::string()>& message) {
    return reporter.report_at(ConstraintId::symbol_c4, head, {key::kWhere}, message);
  };
  const auto errors = errors_of_symbol_relations(where, context, key::kWhere);
  for (const SymbolDeclarationError& error : errors) report([&] { return error.message; });
  const ExtentProver* const prover = reporter.prover();
  if (prover == nullptr || !errors.empty()) return;
  const SymbolDeclarations& declarations = prover->declarations();
  const std::set<std::string_view> used = symbols_of_extents(reporter.module());
  for (const SymbolRelation& each : declarations.relations().all()) {
    for (const Symbol symbol : each.symbols(context.dims())) {
      const std::string_view name = context.text(symbol);
      if (used.contains(name) || declarations.find(symbol) != nullptr) continue;
      Diagnostic* kept = report([&] {
        return fmt::format("no extent of the module has the symbol '${}' of the relation '{}'",
                           name, each.text(context.dims()));
      });
      NearestName nearest(name);
      for (const std::string_view other : used) nearest.offer(other);
      if (kept != nullptr) suggest(*kept, nearest.best());
    }
    if (!prover->is_impossible(each)) continue;
    report([&] {
      return fmt::format(
          "the relation '{}' holds for no values that declarations and other relations admit",
          each.text(context.dims()));
    });
    return;  // others may contradict it in turn
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
  const Attr* where = head.attribute(key::kWhere);
  const bool has_declarations = symbols != nullptr && symbols->kind() == AttrKind::kDict;
  if ((!has_declarations && where == nullptr) || !module.is_portable()) return;
  if (module.version() < kSymbolsVersion) return;  // see versions()
  if (has_declarations) {
    check_structure(*symbols, head, reporter);
    check_uses(head, reporter);
  }
  if (where != nullptr && reporter.wants(ConstraintId::symbol_c4)) {
    check_relations(*where, head, reporter);
  }
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

// Values that control takes from an op into its regions, between them, and to its results.
#include <algorithm>
#include <optional>
#include <set>

#include "ir/symbol_declarations.hpp"
#include "mir/control_flow.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

/// "the results of 'my.for'", "the entry of region 0 of 'my.for'"
std::string target_of(const Op& op, const RegionEdge& edge) {
  return edge.to == RegionEdge::kOp
             ? fmt::format("the results of '{}'", op.name())
             : fmt::format("the entry of region {} of '{}'", edge.to, op.name());
}

bool has_region(const Op& op, std::uint32_t number) {
  return number == RegionEdge::kOp || number < op.region_count();
}

/// True if only extents of a result differ from those that one of several regions passes.
bool may_join(const Op& op, const RegionEdge& edge, const Type* passed, const Type* taken) {
  const auto *a = dyn_cast<TensorType>(passed), *b = dyn_cast<TensorType>(taken);
  return edge.to == RegionEdge::kOp && op.region_count() > 1 && !is_loop(op) && a != nullptr &&
         b != nullptr && a->rank() == b->rank() && a->dtype_name() == b->dtype_name() &&
         a->device() == b->device();
}

/// The values that an edge passes, against those that it reaches.
void check_edge(const Op& op, const Op& source, const RegionEdge& edge, Reporter& reporter) {
  const ValueRange targets =
      edge.to == RegionEdge::kOp ? op.results() : op.region(edge.to)->entry_arguments();
  const auto given = source.plain_operands();
  const std::size_t given_count =
      edge.first_operand > given.size() ? 0 : given.size() - edge.first_operand;
  const std::size_t wanted_count =
      edge.first_target > targets.size() ? 0 : targets.size() - edge.first_target;
  if (edge.operand_count > given_count || edge.operand_count > wanted_count) {
    reporter.report(ConstraintId::flow_c1, source, [&] {
      return fmt::format("'{}' passes {} values to {}, which takes {}", source.name(), given_count,
                         target_of(op, edge), wanted_count);
    });
    return;
  }
  const bool leaves = edge.from != RegionEdge::kOp && edge.to == RegionEdge::kOp;
  const auto joined =
      leaves ? std::optional(JoinedExtents::at_results(op, source, edge)) : std::nullopt;
  for (std::uint32_t i = 0; i < edge.operand_count; ++i) {
    const Type* passed = given[edge.first_operand + i].value()->type();
    const Type* wanted = targets[edge.first_target + i].type();
    const Type* taken = joined ? joined->as_passed(wanted) : wanted;
    if (passed == nullptr || taken == nullptr || reporter.agree(passed, taken)) continue;
    Diagnostic* kept = reporter.report(ConstraintId::flow_c2, source, [&] {
      return fmt::format("value {} that '{}' passes to {} is {}, expected {}", i, source.name(),
                         target_of(op, edge), passed->spelling(), taken->spelling());
    });
    if (may_join(op, edge, passed, taken)) {
      note(kept, op,
           "regions can pass different extents if the result has a symbol there that no input has");
    }
  }
  if (joined) passed_ranges(joined->extents(), ConstraintId::flow_c2, source, reporter);
}

}  // namespace

namespace {

/// Extents that are passed for symbols, against the relations between these.
void passed_relations(std::span<const std::pair<Symbol, Dim>> passed, ConstraintId constraint,
                      const Op& source, ExtentProver& prover, Reporter& reporter) {
  DimTable& dims = reporter.module().context().dims();
  std::set<std::size_t> places;
  const SymbolRelations& relations = prover.declarations().relations();
  for (const auto& [symbol, extent] : passed) {
    const auto own = relations.places_of(symbol);
    places.insert(own.begin(), own.end());
  }
  for (const std::size_t place : places) {
    const SymbolRelation& relation = relations.all()[place];
    const auto what = [&] {
      std::string extents;
      for (const auto& [symbol, extent] : passed) {
        const auto own = relations.places_of(symbol);
        if (std::ranges::find(own, place) == own.end()) continue;
        extents += fmt::format("{}{} as '${}'", extents.empty() ? "" : ", ", dims.print(extent),
                               text(source, symbol));
      }
      return fmt::format("'{}' passes {}, the module requires {}", source.name(), extents,
                         relation.text(dims));
    };
    const ExtentVerdict verdict = prover.admits(relation, passed);
    if (verdict == ExtentVerdict::kRefuted) {
      reporter.report(constraint, source, what);
    } else if (verdict == ExtentVerdict::kUndecided) {
      reporter.report(ConstraintId::symbol_c7, source,
                      [&] { return what() + ", which is checked at run time"; });
    }
  }
}

}  // namespace

void passed_ranges(std::span<const std::pair<Symbol, Dim>> passed, ConstraintId constraint,
                   const Op& source, Reporter& reporter) {
  ExtentProver* const prover = reporter.prover();
  if (prover == nullptr) return;
  for (const auto& [symbol_passed, extent_passed] : passed) {
    // Clang 14 captures no structured binding.
    const Symbol symbol = symbol_passed;
    const Dim extent = extent_passed;
    const SymbolDeclaration* declared = prover->declarations().find(symbol);
    if (declared == nullptr) continue;
    const auto what = [&] {
      return fmt::format("'{}' passes extent {} as '${}', whose declaration admits {}",
                         source.name(), reporter.module().context().dims().print(extent),
                         text(source, symbol), declared->text());
    };
    switch (prover->admits(*declared, extent)) {
      case ExtentVerdict::kProved:
        break;
      case ExtentVerdict::kRefuted:
        reporter.report(constraint, source, what);
        break;
      case ExtentVerdict::kUndecided:
        reporter.report(ConstraintId::symbol_c7, source,
                        [&] { return what() + ", which is checked at run time"; });
        break;
    }
  }
  passed_relations(passed, constraint, source, *prover, reporter);
}

void region_flow(const Op& op, Reporter& reporter) {
  const auto edges = region_edges(op);
  if (!edges) return;
  for (const RegionEdge& edge : *edges) {
    // A row may describe regions that the op at hand leaves out.
    if (!has_region(op, edge.from) || !has_region(op, edge.to)) continue;
    if (edge.from == RegionEdge::kOp) {
      check_edge(op, op, edge, reporter);
      continue;
    }
    const Region& region = *op.region(edge.from);
    for (const Block* block : region.blocks()) {
      const Op* last = block->terminator();
      if (last != nullptr && leaves_region(*last)) check_edge(op, *last, edge, reporter);
    }
  }
}

}  // namespace mir::checks

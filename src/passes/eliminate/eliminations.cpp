// Registers the passes that erase unused parts of modules.
#include "passes/eliminate/eliminations.hpp"

#include "passes/standard_passes.hpp"

namespace mir {

void register_eliminations(PassRegistry& registry) {
  registry.add({.name = "eliminate-dead-ops",
                .summary = "removes pure operations, and calls of pure graphs, whose results "
                           "nothing reads",
                .anchor = Anchor::kGraph,
                .takes = PassForm::kPortable,
                .is_idempotent = true,
                .reads = AnalysisSet::of<Effects>(),
                .preserves = AnalysisSet::of<Dominance, SymbolRanges, DeadCode, Effects>(),
                .run = eliminate_dead_ops});
  registry.add({.name = "eliminate-debug",
                .summary = "removes comments that were traced as operations",
                .run = eliminate_debug});
  registry.add({.name = "eliminate-unused-graphs",
                .summary = "removes graphs that no call from the module body leads to",
                .takes = PassForm::kPortable,
                .is_idempotent = true,
                // It removes graphs as a whole.
                .preserves = AnalysisSet::of<Dominance, Liveness, Aliases, DeadCode>(),
                .run = eliminate_unused_graphs});
  registry.add({.name = "eliminate-unused-parameters",
                .summary = "removes registers of parameters that no operation uses",
                .takes = PassForm::kPortable,
                .is_idempotent = true,
                .preserves = AnalysisSet::of<Dominance, CallGraph, SymbolRanges>(),
                .run = eliminate_unused_parameters});
}

}  // namespace mir

#include "passes/eliminate/eliminations.hpp"

namespace mir {

namespace {

constexpr std::string_view kDeadOps =
    R"(@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {
    linalg.CPU.ExpOp(%x) -> (%a:tensor<[2], Float32, CPU>)
    linalg.CPU.AddOp(%a, %x) -> (%b:tensor<[2], Float32, CPU>)
    linalg.CPU.NegOp(%x) -> (%y:tensor<[2], Float32, CPU>)
    cf.ReturnOp (%y) -> ()
}
)";

constexpr std::string_view kComments =
    R"(@main () -> () {
    dbg.CommentOp () -> ()[text:attention]
    linalg.CPU.SiLUOp(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
}
)";

constexpr std::string_view kUnusedGraphs =
    R"(@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {
    graph.SubGraphOp @used <CPU> {
        (%a:tensor<[2], Float32, CPU>) -> (%a:tensor<[2], Float32, CPU>) {
            cf.ReturnOp (%a) -> ()
        }
    }
    graph.SubGraphOp @unused <CPU> {
        (%a:tensor<[2], Float32, CPU>) -> (%a:tensor<[2], Float32, CPU>) {
            cf.ReturnOp (%a) -> ()
        }
    }
    graph.CallGraphOp @used (%x) -> (%y:tensor<[2], Float32, CPU>)
    cf.ReturnOp (%y) -> ()
}
)";

}  // namespace

void register_eliminations(PassRegistry& registry) {
  registry.add({.name = "eliminate-dead-ops",
                .summary = "removes pure operations whose results nothing reads",
                .anchor = Anchor::kGraph,
                .takes = PassForm::kPortable,
                .preserves = AnalysisSet::of<Dominance, SymbolRanges>(),
                .example = std::string(kDeadOps),
                .run = eliminate_dead_ops});
  registry.add({.name = "eliminate-debug",
                .summary = "removes comments that were traced as operations",
                .example = std::string(kComments),
                .run = eliminate_debug});
  registry.add({.name = "eliminate-unused-graphs",
                .summary = "removes graphs that no call from the module body leads to",
                .takes = PassForm::kPortable,
                // It removes graphs as a whole.
                .preserves = AnalysisSet::of<Dominance, Liveness, Aliases>(),
                .example = std::string(kUnusedGraphs),
                .run = eliminate_unused_graphs});
}

}  // namespace mir

#include "passes/eliminate/eliminations.hpp"

#include "passes/standard_passes.hpp"

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

constexpr std::string_view kUnusedParameters =
    R"(@main [mir_version:1] (%x:tensor<[1, 4], Float32, CPU>) -> (%y:tensor<[1, 3], Float32, CPU>) {
    graph.SubGraphOp @init <notype> {
        () -> () {
            tensor.CPU.register () -> (%w:tensor<[3, 4], Float32, CPU>[@up.weight])[symbol:up.weight]
            tensor.CPU.register () -> (%v:tensor<[4], Float32, CPU>[@norm.weight])[symbol:norm.weight]
        }
    }
    linalg.CPU.LinearOp <name="up"> [in_channels:4, out_channels:3, bias:false] (%x) -> (%y:tensor<[1, 3], Float32, CPU>)
    cf.ReturnOp (%y) -> ()
}
)";

}  // namespace

void register_eliminations(PassRegistry& registry) {
  registry.add({.name = "eliminate-dead-ops",
                .summary = "removes pure operations, and calls of pure graphs, whose results "
                           "nothing reads",
                .anchor = Anchor::kGraph,
                .takes = PassForm::kPortable,
                .is_idempotent = true,
                .reads = AnalysisSet::of<Effects>(),
                .preserves = AnalysisSet::of<Dominance, SymbolRanges, DeadCode, Effects>(),
                .example = std::string(kDeadOps),
                .run = eliminate_dead_ops});
  registry.add({.name = "eliminate-debug",
                .summary = "removes comments that were traced as operations",
                .example = std::string(kComments),
                .run = eliminate_debug});
  registry.add({.name = "eliminate-unused-graphs",
                .summary = "removes graphs that no call from the module body leads to",
                .takes = PassForm::kPortable,
                .is_idempotent = true,
                // It removes graphs as a whole.
                .preserves = AnalysisSet::of<Dominance, Liveness, Aliases, DeadCode>(),
                .example = std::string(kUnusedGraphs),
                .run = eliminate_unused_graphs});
  registry.add({.name = "eliminate-unused-parameters",
                .summary = "removes registers of parameters that no operation uses",
                .takes = PassForm::kPortable,
                .is_idempotent = true,
                .preserves = AnalysisSet::of<Dominance, CallGraph, SymbolRanges>(),
                .example = std::string(kUnusedParameters),
                .run = eliminate_unused_parameters});
}

}  // namespace mir

// Removes names of ops that mean nothing.
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

/// Whether weights or state are found by the name of the op.
bool needs_name(const Op& op) {
  return op.row() == nullptr || !op.row()->weights.empty() || op.row()->effects != Effect::kNone;
}

PassResult strip_names(PassRun& run) {
  Rewriter rewriter(run.module());
  for_each_op(run.module(), [&](Op& op) {
    if (!op.has_path() || needs_name(op)) return;
    rewriter.clear_path(op);
    run.count("names removed");
  });
  return run.result();
}

constexpr std::string_view kNamed =
    R"(@main [mir_version:1] (%x:tensor<[1, 4], Float32, CPU>) -> (%z:tensor<[1, 4], Float32, CPU>) {
    graph.SubGraphOp @init <notype> {
        () -> () {
            tensor.CPU.register () -> (%w:tensor<[4], Float32, CPU>[@m.norm.weight])[symbol:m.norm.weight]
        }
    }
    linalg.CPU.RMSNormOp <name="m.norm"> [epsilon:1e-6] (%x) -> (%y:tensor<[1, 4], Float32, CPU>)
    linalg.CPU.SiLUOp <name="m.act"> (%y) -> (%z:tensor<[1, 4], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
)";

}  // namespace

Pass strip_names_pass() {
  return {.name = "strip-names",
          .summary = "removes the names of operations that have neither weights nor state",
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .preserves = AnalysisSet::of<Dominance, CallGraph, Liveness, Aliases, SymbolRanges>(),
          .example = std::string(kNamed),
          .run = strip_names};
}

}  // namespace mir

// Removes names of ops that mean nothing.
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/layers/expand_layers.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

/// True if weights or state are found by the name of the op.
bool needs_name(const Op& op) {
  return op.row() == nullptr || is_layer(op) || !op.row()->weights.empty() ||
         op.row()->effects != Effect::kNone;
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

}  // namespace

Pass strip_names_pass() {
  return {.name = "strip-names",
          .summary = "removes the names of operations that have neither weights nor state",
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .preserves = AnalysisSet::of<Dominance, CallGraph, Liveness, Aliases, SymbolRanges>(),
          .run = strip_names};
}

}  // namespace mir

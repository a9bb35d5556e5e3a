// Removes the locations that text states.
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

PassResult strip_locations(PassRun& run) {
  Rewriter rewriter(run.module());
  const LocationTable& locations = run.module().context().locations();
  for_each_op(run.module(), [&](Op& op) {
    if (!locations.is_stated(op.location())) return;
    rewriter.set_location(op, {});
    run.count("locations removed");
  });
  return run.result();
}

}  // namespace

Pass strip_locations_pass() {
  return {.name = "strip-locations",
          .summary = "removes the locations that the text states",
          .is_idempotent = true,
          .preserves = AnalysisSet::of<Dominance, CallGraph, Liveness, Aliases, SymbolRanges>(),
          .run = strip_locations};
}

}  // namespace mir

// Passes that apply a set of patterns greedily.
#include "mir/pass.hpp"
#include "passes/rewrite/patterns_by_kind.hpp"

namespace mir {

namespace {

/// The patterns of a pass, which its runs on all graphs share.
struct PreparedPatterns : FrozenPatterns {
  explicit PreparedPatterns(PatternSet set) : FrozenPatterns(std::move(set)), by_kind(*this) {}
  PatternsByKind by_kind;
};

PassResult apply(PassRun& run, const PatternsByKind& patterns) {
  const GreedyReport report = rewrite_greedily(run.module(), run.region(), patterns,
                                               run.greedy_options(), run.diagnostics());
  run.count("ops visited", report.visited);
  run.count("ops removed", report.removed);
  run.count("sweeps", report.sweeps);
  for (std::size_t i = 0; i < report.applied.size(); ++i) {
    if (report.applied[i] == 0) continue;
    run.count(patterns.label(i), report.applied[i]);
  }
  return report.has_failed ? PassResult::kFailed : run.result();
}

}  // namespace

PassResult rewrite_greedily(PassRun& run, const FrozenPatterns& patterns) {
  return apply(run, PatternsByKind(patterns));
}

Pass pattern_pass(Pass pass) {
  pass.prepare = [patterns = pass.patterns](
                     IRContext& context, const PassOptions& options,
                     Diagnostics& diagnostics) -> std::shared_ptr<const FrozenPatterns> {
    PatternSet set = patterns(context, options);
    if (set.problems().has_errors()) {
      diagnostics.append(Diagnostics(set.problems()));
      return nullptr;
    }
    return std::make_shared<const PreparedPatterns>(std::move(set));
  };
  // In a part of a graph, rewrites can leave dead ops around it.
  const bool is_whole = pass.anchor == Anchor::kGraph;
  if (is_whole) pass.preserves.add<DeadCode>();
  pass.run = [is_whole](PassRun& run) {
    const auto& prepared = static_cast<const PreparedPatterns&>(run.prepared<FrozenPatterns>());
    const PassResult result = apply(run, prepared.by_kind);
    if (is_whole && result != PassResult::kFailed) run.state(DeadCode::none());
    return result;
  };
  return pass;
}

}  // namespace mir

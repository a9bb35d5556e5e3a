#include <fmt/format.h>

#include "mir/pass.hpp"

namespace mir {

PassResult rewrite_greedily(PassRun& run, const FrozenPatterns& patterns) {
  const GreedyReport report = rewrite_greedily(run.module(), run.region(), patterns,
                                               run.greedy_options(), run.diagnostics());
  run.count("ops visited", report.visited);
  run.count("ops removed", report.removed);
  run.count("sweeps", report.sweeps);
  for (std::size_t i = 0; i < report.applied.size(); ++i) {
    if (report.applied[i] == 0) continue;
    run.count(fmt::format("'{}' applied", patterns.patterns()[i].name), report.applied[i]);
  }
  return report.has_failed ? PassResult::kFailed : run.result();
}

Pass pattern_pass(Pass pass) {
  pass.prepare = [patterns = pass.patterns](IRContext& context, const PassOptions& options) {
    return std::make_shared<const FrozenPatterns>(patterns(context, options));
  };
  pass.run = [](PassRun& run) { return rewrite_greedily(run, run.prepared<FrozenPatterns>()); };
  return pass;
}

}  // namespace mir

// Runs of a pass on its anchors: what it declares is compared with what it did.
#include "passes/run/pass_work.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/passes.hpp"
#include "mir/module.hpp"
#include "mir/rewriter.hpp"

namespace mir {

bool PassWork::run(const PassRun::Place& place) {
  ++report.anchors;
  PassRun run(place, context.of_runs, editor.edits(), report.statistics, diagnostics);
  const std::size_t errors = diagnostics.error_count();
  const PassResult said = call(run);
  const PassResult happened = run.result();
  if (said >= PassResult::kRefused) {
    report.result = std::max(report.result, said);
    if (diagnostics.error_count() == errors) return refuse("failed without reporting an error");
    return said != PassResult::kFailed;
  }
  if (happened != PassResult::kChanged) return true;
  report.result = std::max(report.result, happened);
  const bool is_wrong = said == PassResult::kUnchanged && context.of_runs.checks_claims;
  return !is_wrong || refuse("declares that it changed nothing, but it edited the module");
}

PassResult PassWork::call(PassRun& run) {
  try {
    return pass().run(run);
  } catch (const UndeclaredAnalysis& analysis) {
    refuse(fmt::format("asks for analysis '{}', which it does not declare", analysis.name));
  } catch (const StrayEdit& edit) {
    refuse(fmt::format("edits '{}' outside the graph on which it runs", edit.op.name()),
           edit.op.span());
  }
  return PassResult::kFailed;
}

/// Returns false after reporting.
bool PassWork::refuse(std::string_view what, Span at) {
  diagnostics.error(diag::kPassClaim, at, fmt::format("pass '{}' {}", pass().name, what));
  report.result = PassResult::kFailed;
  return false;
}

bool PassWork::run_graph(Op& graph, Analyses& analyses) {
  if (graph.is_erased()) return true;
  Region& body = *graph.first_region();
  const std::uint64_t edits_before = editor.edits();
  analyses.start_at(edits_before);
  const auto run_on = [&](Region& region, Op& anchor) {
    editor.admit_only(body);
    const bool is_good = run({module, region, anchor, analyses, nullptr, context.frozen_of_module});
    editor.admit_all();
    return is_good;
  };
  if (pass().anchor == Anchor::kGraph) {
    if (!run_on(body, graph)) return false;
  } else {
    for (const AnchorPlace& place : places_in(context.scope, pass(), body)) {
      const Op* holder = place.op != nullptr ? place.op : place.region->parent();
      if (holder->is_erased()) continue;
      // An earlier run may have moved the op.
      Region* region = place.op != nullptr ? place.op->parent_region() : place.region;
      Op& anchor = place.op != nullptr ? *place.op : *place.region->parent();
      if (region != nullptr && !run_on(*region, anchor)) return false;
    }
  }
  return editor.edits() == edits_before || keep_preserved(analyses);
}

bool PassWork::keep_preserved(Analyses& analyses) {
  analyses.follow(editor.edits(), preserves());
  if (!context.of_runs.checks_claims) return true;
  const auto stale = analyses.first_stale(preserves());
  return !stale ||
         refuse(fmt::format("declares that it preserves analysis '{}', but changed it", *stale));
}

void PassWork::add(const PassReport& other) {
  report.anchors += other.anchors;
  report.result = std::max(report.result, other.result);
  for (const auto& [what, amount] : other.statistics) report.statistics[what] += amount;
}

}  // namespace mir

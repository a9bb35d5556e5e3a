// A plugin with one defect, which the environment variable ODD chooses. Without it, a plugin with
// passes that test the boundary between plugin and tool.
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "mir/analysis.hpp"
#include "mir/codes/passes.hpp"
#include "mir/pass_plugin.hpp"
#include "mir/rewriter.hpp"

namespace {

using namespace mir;

std::string_view defect() {
  const char* chosen = std::getenv("ODD");
  return chosen == nullptr ? "" : chosen;
}

/// An analysis of the tool, and one of the plugin that uses it.
struct PureOps {
  static constexpr std::string_view kAnalysisName = "pure ops";
  PureOps(const Module& module, Analyses& analyses) {
    const Effects& effects = analyses.get<Effects>();
    for (const Op* op : module.body().entry()->ops()) count += effects.is_pure(*op) ? 1u : 0u;
  }
  friend bool operator==(const PureOps&, const PureOps&) = default;
  std::uint64_t count = 0;
};

PassResult count_pure(PassRun& run) {
  run.count("pure ops", run.analysis<PureOps>().count);
  return run.result();
}

/// Erases the comments, by an id and a rewriter of the tool.
PassResult erase_comments(PassRun& run) {
  Rewriter rewriter(run.module());
  for (Op* op : run.region().entry()->ops()) {
    if (op->is(OpId::kDbgComment)) rewriter.erase(*op);
  }
  return run.result();
}

PassResult fail(PassRun& run) {
  run.diagnostics().error(diag::kIllegalOp, run.anchor().span(), "the plugin refuses it");
  return PassResult::kFailed;
}

std::vector<Pass> passes() {
  if (defect() == "throw") throw std::runtime_error("no passes today");
  std::vector<Pass> all = {
      {.name = "count-pure",
       .summary = "counts pure operations of the body",
       .anchor = Anchor::kGraph,
       .reads = defect() == "analysis" ? AnalysisSet() : AnalysisSet::of<PureOps>(),
       .run = count_pure},
      {.name = "erase-comments",
       .summary = "erases dbg.CommentOp",
       .anchor = Anchor::kGraph,
       .run = erase_comments},
      {.name = "fail", .summary = "reports an error", .run = fail}};
  if (defect() == "taken") all.back().name = "cse";
  if (defect() == "twice") all.back().name = "count-pure";
  if (defect() == "malformed") all.back().name = "two words";
  if (defect() == "no-run") all.back().run = nullptr;
  return all;
}

}  // namespace

extern "C" const mir::PassPlugin* mir_pass_plugin() {
  static PassPlugin plugin{.name = "odd", .passes = passes};
  if (defect() == "null") return nullptr;
  if (defect() == "interface") plugin.interface_version = 999;
  if (defect() == "project") plugin.project_version = "0.0.1";
  if (defect() == "no-name") plugin.name = nullptr;
  return &plugin;
}

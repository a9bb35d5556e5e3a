// Runs of one pass.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "mir/pass.hpp"
#include "passes/run/anchors.hpp"

namespace mir {

/// State shared by all runs of one pass on one module.
struct StepContext {
  const PassStep& step;
  const Scope& scope;
  const Analyses* frozen_of_module = nullptr;
  std::shared_ptr<const void> prepared{};
  PassRun::Context of_runs;

  const Pass& pass() const { return step.pass(); }
};

/// The runs of one pass by one editor.
struct PassWork {
  const StepContext& context;
  Module& module;
  Editor& editor;
  Diagnostics& diagnostics;
  PassReport report{};

  const Pass& pass() const { return context.pass(); }
  const AnalysisSet& preserves() const { return pass().preserves; }
  bool has_failed() const { return report.result == PassResult::kFailed; }

  /// Returns false if the pass failed there.
  bool run(const PassRun::Place& place);
  /// Runs the pass on all anchors of a graph. Returns false if it failed there.
  bool run_graph(Op& graph, Analyses& analyses);
  /// Forgets the analyses that the edits invalidated. Returns false after reporting one that the
  /// pass should have preserved.
  bool keep_preserved(Analyses& analyses);
  void add(const PassReport& other);

 private:
  PassResult call(PassRun& run);
  bool refuse(std::string_view what, Span at = {});
};

}  // namespace mir

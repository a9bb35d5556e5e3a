// Graphs of a module, which threads may work on.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "mir/analysis.hpp"
#include "mir/module.hpp"
#include "passes/run/anchors.hpp"

namespace mir {

struct KnownGraph {
  Op* op = nullptr;
  Analyses* analyses = nullptr;
};
/// Graphs that one thread works on in turn, each followed by those nested in it.
using GraphTask = std::span<const KnownGraph>;

/// The graphs that a scope selects.
class SelectedGraphs {
 public:
  SelectedGraphs(const Scope& scope, Module& module,
                 const std::function<Analyses*(const Op&)>& analyses_of);
  SelectedGraphs(const SelectedGraphs&) = delete;
  SelectedGraphs& operator=(const SelectedGraphs&) = delete;

  const Scope& scope() const { return scope_; }
  /// Graphs that are edited in place: those of dumps, the body of the module, and graphs that
  /// declare symbols of the module.
  std::span<const KnownGraph> in_place() const { return in_place_; }
  std::span<const GraphTask> tasks() const { return tasks_; }

 private:
  void add_tasks();

  Scope scope_;
  std::vector<KnownGraph> in_place_, others_;
  std::vector<GraphTask> tasks_;
};

/// Calls `body(i, editor)` for each task, in up to `threads` threads. Then names the new values of
/// all tasks in their order.
void work_on_graphs(Module& module, std::span<const GraphTask> tasks, unsigned threads,
                    const std::function<void(std::size_t, Editor&)>& body);

}  // namespace mir

// The graphs that a pass runs on, cut into tasks for threads.
#include "passes/run/graph_tasks.hpp"

#include <algorithm>

#include "ir/declaration_graphs.hpp"
#include "mir/walk.hpp"
#include "passes/run/in_threads.hpp"

namespace mir {

SelectedGraphs::SelectedGraphs(const Scope& scope, Module& module,
                               const std::function<Analyses*(const Op&)>& analyses_of)
    : scope_(scope) {
  for (Op* op : selected_graphs(scope, module)) {
    const bool is_in_place = op == module.top() || !module.is_portable() ||
                             !op->has(Trait::kIsolated) || is_declaration(*op);
    (is_in_place ? in_place_ : others_).push_back({op, analyses_of(*op)});
  }
  add_tasks();
}

/// A task has several graphs, so that it is worth its cost.
void SelectedGraphs::add_tasks() {
  constexpr std::size_t kGraphsOfTask = 16;
  const GraphTask all(others_);
  const auto is_nested = [&](std::size_t i, const Op& outer) {
    return i < all.size() && all[i].op->is_inside(outer);
  };
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    while (last < all.size() && last - first < kGraphsOfTask) {
      const Op& outer = *all[last++].op;
      while (is_nested(last, outer)) ++last;
    }
    tasks_.push_back(all.subspan(first, last - first));
  }
}

namespace {

/// The graphs of a module are worked on while it exists.
struct GraphWork {
  GraphWork(Module& of, std::size_t threads) : module(of), editors(threads > 1 ? threads : 0) {
    module.begin_graphs();
    if (!editors.empty()) module.editor().admit_none();
  }
  GraphWork(const GraphWork&) = delete;
  GraphWork& operator=(const GraphWork&) = delete;
  ~GraphWork() { module.end_graphs(editors); }

  Module& module;
  std::vector<Editor> editors;  // of threads; the module's own serves one thread
};

/// The graphs of a task have another editor than the module's while it exists.
struct TakenGraphs {
  TakenGraphs(Module& of, GraphTask graphs, Editor& editor) : module(of), task(graphs) {
    take(editor);
  }
  TakenGraphs(const TakenGraphs&) = delete;
  TakenGraphs& operator=(const TakenGraphs&) = delete;
  ~TakenGraphs() { take(module.editor()); }
  void take(Editor& editor) const {
    for (const KnownGraph& graph : task) module.take(*graph.op, editor);
  }

  Module& module;
  GraphTask task;
};

/// Graphs are far apart in memory, and their regions lie behind their ops.
void fetch_graphs(GraphTask task) {
  for (const KnownGraph& graph : task) {
    fetch(graph.op, 9);
    fetch(graph.analyses);
  }
}

}  // namespace

void work_on_graphs(Module& module, std::span<const GraphTask> tasks, unsigned threads,
                    const std::function<void(std::size_t, Editor&)>& body) {
  {
    GraphWork work(module, std::min<std::size_t>(threads, tasks.size()));
    for_each_in_threads(tasks.size(), threads, [&](std::size_t i, std::size_t thread) {
      if (i + 1 < tasks.size()) fetch_graphs(tasks[i + 1]);
      if (work.editors.empty()) return body(i, module.editor());
      const TakenGraphs taken(module, tasks[i], work.editors[thread]);
      body(i, work.editors[thread]);
    });
  }
  for (const GraphTask task : tasks) {
    for (const KnownGraph& graph : task) module.name_new_values(*graph.op);
  }
}

}  // namespace mir

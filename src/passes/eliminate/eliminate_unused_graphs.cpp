#include <algorithm>
#include <unordered_set>
#include <vector>

#include "ir/declaration_graphs.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "passes/eliminate/eliminations.hpp"
#include "passes/eliminate/library_module.hpp"

namespace mir {

namespace {

/// Graphs that calls lead to from the module body, with those around them.
std::unordered_set<const Op*> used_graphs(const CallGraph& calls, Op& top) {
  std::unordered_set<const Op*> used;
  std::vector<Op*> open{&top};
  const auto use = [&](Op* graph) {
    // What is inside a graph goes with it.
    for (; graph != &top && used.insert(graph).second; graph = graph->parent_op()) {
      open.push_back(graph);
    }
  };
  while (!open.empty()) {
    const Op* graph = open.back();
    open.pop_back();
    for (const CallGraph::Call& call : calls.calls_in(*graph)) {
      if (call.target != nullptr) use(call.target);
    }
  }
  return used;
}

}  // namespace

PassResult eliminate_unused_graphs(PassRun& run) {
  if (is_library(run.module())) return run.result();
  const CallGraph& calls = run.analysis<CallGraph>();
  const auto used = used_graphs(calls, run.anchor());
  // Ops inside of an unused graph go or stay with it.
  const auto is_apart = [&](const Op& graph) {
    const Op* around = graph.parent_op();
    while (around != &run.anchor() && (!is_graph(*around) || used.contains(around))) {
      around = around->parent_op();
    }
    return around == &run.anchor();
  };
  IRWriter writer(run.module());
  for (Op* graph : calls.graphs().subspan(1)) {
    if (graph->is_erased() || !isa<SubGraphOp>(graph) || used.contains(graph)) continue;
    if (!is_apart(*graph) || is_declaration(*graph)) continue;
    writer.removeOp(graph);
    run.count("graphs removed");
  }
  return run.result();
}

}  // namespace mir

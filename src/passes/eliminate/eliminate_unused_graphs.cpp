#include <algorithm>
#include <unordered_set>
#include <vector>

#include "ir/declaration_graphs.hpp"
#include "mir/ops.hpp"
#include "passes/eliminate/eliminations.hpp"

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
    for (Op* callee : calls.callees(*graph)) use(callee);
  }
  return used;
}

/// Whether the body does nothing: all graphs are meant to be called from elsewhere.
bool is_library(const Module& module) {
  const auto does_nothing = [](const Op* op) {
    return isa<SubGraphOp>(op) || isa<RegisterOp>(op) || isa<ReturnOp>(op);
  };
  return module.body().empty() ||
         std::ranges::all_of(module.body().only_block().ops(), does_nothing);
}

}  // namespace

PassResult eliminate_unused_graphs(PassRun& run) {
  if (is_library(run.module())) return run.result();
  const auto used = used_graphs(run.analysis<CallGraph>(), run.anchor());
  IRWriter(run.module()).walk<SubGraphOp>([&](IRWriter& writer, SubGraphOp graph) {
    if (used.contains(graph.op())) return IRWriter::WalkResult::WALK_CONTINUE;
    if (!is_declaration(*graph.op())) {
      writer.removeOp(graph.op());
      run.count("graphs removed");
    }
    return IRWriter::WalkResult::WALK_SKIP;
  });
  return run.result();
}

}  // namespace mir

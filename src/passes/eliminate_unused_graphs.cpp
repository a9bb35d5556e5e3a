#include <algorithm>
#include <unordered_set>
#include <vector>

#include "ir/declaration_graphs.hpp"
#include "mir/ops.hpp"
#include "passes/eliminations.hpp"

namespace mir {

namespace {

/// Graphs that calls lead to from the module body, with those around them.
std::unordered_set<const Op*> used_graphs(Module& module) {
  std::unordered_set<const Op*> used;
  std::vector<Op*> open{module.top()};
  const auto use = [&](Op* graph) {
    open.push_back(graph);
    // What is inside a graph goes with it.
    for (; graph != module.top() && used.insert(graph).second; graph = graph->parent_op()) {
    }
  };
  while (!open.empty()) {
    Region* region = open.back()->region();
    open.pop_back();
    if (region == nullptr) continue;
    IRWriter(module, *region).walk<OpView>([&](IRWriter&, OpView inner) {
      if (isa<SubGraphOp>(inner.op())) return IRWriter::WalkResult::WALK_SKIP;
      const auto call = dyn_cast<CallGraphOp>(inner.op());
      Op* target = call ? call.target().op() : nullptr;
      if (target != nullptr && !used.contains(target)) use(target);
      return IRWriter::WalkResult::WALK_CONTINUE;
    });
  }
  return used;
}

/// Whether the body does nothing: all graphs are meant to be called from elsewhere.
bool is_library(const Module& module) {
  const auto does_nothing = [](const Op* op) {
    return isa<SubGraphOp>(op) || isa<RegisterOp>(op) || isa<ReturnOp>(op);
  };
  return std::ranges::all_of(module.body().ops(), does_nothing);
}

}  // namespace

bool eliminate_unused_graphs(Module& module, Diagnostics&) {
  if (is_library(module)) return true;
  const std::unordered_set<const Op*> used = used_graphs(module);
  IRWriter(module).walk<SubGraphOp>([&](IRWriter& writer, SubGraphOp graph) {
    if (used.contains(graph.op())) return IRWriter::WalkResult::WALK_CONTINUE;
    if (!is_declaration(*graph.op())) writer.removeOp(graph.op());
    return IRWriter::WalkResult::WALK_SKIP;
  });
  return true;
}

}  // namespace mir

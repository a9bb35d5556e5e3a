#include <algorithm>
#include <unordered_set>

#include "mir/analysis.hpp"
#include "mir/ops.hpp"
#include "passes/analysis/graph_ops.hpp"

namespace mir {

CallGraph::CallGraph(const Module& module) {
  graphs_.push_back(module.top());
  for (std::size_t i = 0; i < graphs_.size(); ++i) {
    Op* graph = graphs_[i];
    std::vector<Op*> inside;
    std::unordered_set<const Op*> called;
    for (const Region* region = graph->first_region(); region != nullptr; region = region->next()) {
      for_each_of_graph(*region, [&](Op& op) {
        if (isa<SubGraphOp>(&op)) inside.push_back(&op);
        const auto call = dyn_cast<CallGraphOp>(&op);
        Op* target = call ? call.target().op() : nullptr;
        if (target == nullptr) return;
        calls_[target].push_back(&op);
        if (called.insert(target).second) callees_[graph].push_back(target);
      });
    }
    graphs_.insert(graphs_.end(), inside.begin(), inside.end());
  }
  order();
}

/// A walk over the calls, without recursion: they can be as deep as there are graphs.
void CallGraph::order() {
  std::unordered_set<const Op*> seen;
  struct Visit {
    Op* graph;
    std::size_t next = 0;
  };
  for (Op* root : graphs_) {
    if (!seen.insert(root).second) continue;
    std::vector<Visit> path{{root}};
    while (!path.empty()) {
      Visit& top = path.back();
      const std::span<Op* const> callees = this->callees(*top.graph);
      if (top.next == callees.size()) {
        bottom_up_.push_back(top.graph);
        path.pop_back();
      } else if (Op* callee = callees[top.next++]; seen.insert(callee).second) {
        path.push_back({callee});
      }
    }
  }
}

std::span<Op* const> CallGraph::list(const Lists& lists, const Op& graph) {
  const auto found = lists.find(&graph);
  return found == lists.end() ? std::span<Op* const>() : found->second;
}

std::vector<Op*> CallGraph::reached_from(std::span<Op* const> roots) const {
  std::vector<Op*> reached;
  std::unordered_set<const Op*> seen;
  const auto reach = [&](Op* graph) {
    if (seen.insert(graph).second) reached.push_back(graph);
  };
  for (Op* root : roots) reach(root);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (Op* callee : callees(*reached[i])) reach(callee);
  }
  return reached;
}

bool CallGraph::is_recursive(const Op& graph) const {
  const std::vector<Op*> reached = reached_from(callees(graph));
  return std::ranges::find(reached, &graph) != reached.end();
}

}  // namespace mir

#include "mir/call_graph.hpp"

#include <unordered_set>

#include "mir/control_flow.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

struct Found {
  std::vector<Op*> graphs;
  std::vector<CallGraph::Site> sites;
};

void find_calls(const Region& region, const Op* around, Found& found) {
  for_each_child(region, [&](Op& op) {
    if (is_graph(op)) found.graphs.push_back(&op);
    if (callee_of(op)) found.sites.push_back({&op, around});
    for (Region* in = op.first_region(); in != nullptr; in = in->next()) {
      find_calls(*in, is_graph(op) ? &op : around, found);
    }
  });
}

Found find_calls(const Module& module) {
  Found found;
  find_calls(module.body(), nullptr, found);
  return found;
}

}  // namespace

CallGraph::CallGraph(const Module& module) {
  const Found found = find_calls(module);
  *this = CallGraph(module, found.graphs, found.sites);
}

CallGraph::CallGraph(const Module& module, std::span<Op* const> graphs,
                     std::span<const Site> sites) {
  graphs_.reserve(graphs.size() + 1);
  graphs_.push_back(module.top());
  graphs_.insert(graphs_.end(), graphs.begin(), graphs.end());
  for (const Site& site : sites) {
    Op* target = called_graph(*site.call);
    calls_[site.caller == nullptr ? module.top() : site.caller].push_back({site.call, target});
    if (target != nullptr) users_[target].push_back(site.call);
  }
}

std::span<const CallGraph::Call> CallGraph::calls_in(const Op& graph) const {
  const auto found = calls_.find(&graph);
  return found == calls_.end() ? std::span<const Call>() : found->second;
}

std::vector<Op*> CallGraph::callees(const Op& graph) const {
  std::vector<Op*> list;
  std::unordered_set<const Op*> seen;
  for (const Call& call : calls_in(graph)) {
    if (call.target != nullptr && seen.insert(call.target).second) list.push_back(call.target);
  }
  return list;
}

std::span<Op* const> CallGraph::calls_of(const Op& graph) const {
  const auto found = users_.find(&graph);
  return found == users_.end() ? std::span<Op* const>() : found->second;
}

/// Without recursion: calls can be nested as deep as there are graphs.
std::vector<Op*> CallGraph::bottom_up() const {
  std::vector<Op*> order;
  std::unordered_set<const Op*> seen;
  struct Visit {
    Op* graph;
    std::span<const Call> calls;
    std::size_t next = 0;
  };
  for (Op* root : graphs_) {
    if (!seen.insert(root).second) continue;
    std::vector<Visit> path{{root, calls_in(*root)}};
    while (!path.empty()) {
      Visit& top = path.back();
      if (top.next == top.calls.size()) {
        order.push_back(top.graph);
        path.pop_back();
        continue;
      }
      Op* callee = top.calls[top.next++].target;
      if (callee != nullptr && seen.insert(callee).second) {
        path.push_back({callee, calls_in(*callee)});
      }
    }
  }
  return order;
}

std::vector<Op*> CallGraph::reached_from(std::span<Op* const> roots) const {
  std::vector<Op*> reached;
  std::unordered_set<const Op*> seen;
  const auto reach = [&](Op* graph) {
    if (graph != nullptr && seen.insert(graph).second) reached.push_back(graph);
  };
  for (Op* root : roots) reach(root);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const Call& call : calls_in(*reached[i])) reach(call.target);
  }
  return reached;
}

bool CallGraph::is_recursive(const Op& graph) const {
  for (const Op* reached : reached_from(callees(graph))) {
    if (reached == &graph) return true;
  }
  return false;
}

}  // namespace mir

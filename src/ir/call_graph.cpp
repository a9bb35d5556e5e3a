// Builds the call graph of a module, and orders graphs bottom-up.
#include "mir/call_graph.hpp"

#include <bit>
#include <cassert>
#include <unordered_map>
#include <unordered_set>
#include <utility>

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
  if (!region.may_have_calls() && !region.may_have_graphs()) return;
  for_each_child(region, [&](Op& op) {
    if (is_graph(op)) {
      fetch(op.next());  // far away
      found.graphs.push_back(&op);
    }
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
  add_graphs(module.top(), found.graphs);
  add_calls(module, found.sites);
}

CallGraph::CallGraph(const Module& module, std::span<Op* const> graphs,
                     std::span<const Site> sites) {
  add_graphs(module.top(), graphs);
  add_calls(module, sites);
}

namespace {

constexpr std::uint32_t kEmpty = ~std::uint32_t{0};

}  // namespace

void CallGraph::add_graphs(Op* top, std::span<Op* const> graphs) {
  graphs_.reserve(graphs.size() + 1);
  graphs_.push_back(top);
  graphs_.insert(graphs_.end(), graphs.begin(), graphs.end());
  lists_.resize(graphs_.size());
  slots_.assign(std::bit_ceil(2 * graphs_.size()), kEmpty);
  for (std::uint32_t i = 0; i < graphs_.size(); ++i) slots_[slot_of(graphs_[i])] = i;
}

std::size_t CallGraph::slot_of(const Op* graph) const {
  const std::uint64_t hash = reinterpret_cast<std::uintptr_t>(graph) * 0x9e3779b97f4a7c15ULL;
  std::size_t at = static_cast<std::size_t>(hash >> 32) & (slots_.size() - 1);
  while (slots_[at] != kEmpty && graphs_[slots_[at]] != graph) at = (at + 1) & (slots_.size() - 1);
  return at;
}

std::optional<std::uint32_t> CallGraph::find(const Op* graph) const {
  const std::uint32_t known = slots_[slot_of(graph)];
  return known == kEmpty ? std::nullopt : std::optional(known);
}

void CallGraph::add_calls(const Module& module, std::span<const Site> sites) {
  struct Edge {
    Call call;
    std::uint32_t caller = 0, target = 0;
  };
  std::vector<Edge> edges;
  edges.reserve(sites.size());
  for (const Site& site : sites) {
    const auto symbol = callee_of(*site.call);
    Op* const named = symbol ? module.lookup_op(*symbol) : nullptr;
    const auto target = find(named);
    const auto caller = site.caller == nullptr ? 0 : find(site.caller);
    assert(caller);
    edges.push_back({{site.call, target ? named : nullptr}, *caller, target.value_or(0)});
    ++lists_[*caller].call_count;
    if (target) ++lists_[*target].user_count;
  }
  std::uint32_t calls = 0, users = 0;
  for (Lists& each : lists_) {
    each.first_call = std::exchange(calls, calls + std::exchange(each.call_count, 0));
    each.first_user = std::exchange(users, users + std::exchange(each.user_count, 0));
  }
  calls_.resize(calls);
  users_.resize(users);
  for (const Edge& edge : edges) {
    Lists& caller = lists_[edge.caller];
    calls_[caller.first_call + caller.call_count++] = edge.call;
    if (edge.call.target == nullptr) continue;
    Lists& target = lists_[edge.target];
    users_[target.first_user + target.user_count++] = edge.call.op;
  }
}

/// The places of a graph; null if it is not among those of the module.
const CallGraph::Lists* CallGraph::lists_of(const Op& graph) const {
  const auto known = find(&graph);
  return known ? &lists_[*known] : nullptr;
}

std::span<const CallGraph::Call> CallGraph::calls_in(const Op& graph) const {
  const Lists* const lists = lists_of(graph);
  return lists == nullptr ? std::span<const Call>()
                          : std::span(calls_).subspan(lists->first_call, lists->call_count);
}

std::span<Op* const> CallGraph::calls_of(const Op& graph) const {
  const Lists* const lists = lists_of(graph);
  return lists == nullptr ? std::span<Op* const>()
                          : std::span(users_).subspan(lists->first_user, lists->user_count);
}

std::vector<Op*> CallGraph::callees(const Op& graph) const {
  std::vector<Op*> list;
  std::unordered_set<const Op*> seen;
  for (const Call& call : calls_in(graph)) {
    if (call.target != nullptr && seen.insert(call.target).second) list.push_back(call.target);
  }
  return list;
}

/// Without recursion: calls can be nested as deep as there are graphs.
std::vector<Op*> CallGraph::bottom_up() const {
  std::vector<Op*> order;
  std::vector<bool> seen(lists_.size());
  const auto see = [&](const Op& graph) {
    const std::uint32_t number = *find(&graph);
    const bool is_new = !seen[number];
    seen[number] = true;
    return is_new;
  };
  struct Visit {
    Op* graph;
    std::span<const Call> calls;
    std::size_t next = 0;
  };
  for (Op* root : graphs_) {
    if (!see(*root)) continue;
    std::vector<Visit> path{{root, calls_in(*root)}};
    while (!path.empty()) {
      Visit& top = path.back();
      if (top.next == top.calls.size()) {
        order.push_back(top.graph);
        path.pop_back();
        continue;
      }
      Op* callee = top.calls[top.next++].target;
      if (callee != nullptr && see(*callee)) {
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

/// The strongly connected components, by the algorithm of Kosaraju and Sharir: against the edges,
/// from the graph on that a search along them left last.
std::unordered_set<const Op*> CallGraph::recursive_graphs() const {
  std::unordered_map<const Op*, std::vector<const Op*>> callers;
  std::unordered_set<const Op*> recursive, seen;
  for (const Op* graph : graphs_) {
    for (const Call& call : calls_in(*graph)) {
      if (call.target != nullptr) callers[call.target].push_back(graph);
      if (call.target == graph) recursive.insert(graph);
    }
  }
  const std::vector<Op*> order = bottom_up();
  for (auto root = order.rbegin(); root != order.rend(); ++root) {
    if (!seen.insert(*root).second) continue;
    std::vector<const Op*> component{*root};
    for (std::size_t i = 0; i < component.size(); ++i) {
      for (const Op* caller : callers[component[i]]) {
        if (seen.insert(caller).second) component.push_back(caller);
      }
    }
    if (component.size() > 1) recursive.insert(component.begin(), component.end());
  }
  return recursive;
}

}  // namespace mir

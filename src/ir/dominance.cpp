#include "mir/dominance.hpp"

#include <algorithm>

#include "mir/module.hpp"

namespace mir {

namespace {

using Index = std::uint32_t;
constexpr Index kNone = ~Index{0};

/// The flow graph of one region, blocks numbered in text order.
struct Flow {
  explicit Flow(const Region& region) {
    std::unordered_map<const Block*, Index> numbers;
    for (const Block* block = region.entry(); block != nullptr; block = block->next()) {
      numbers.emplace(block, static_cast<Index>(blocks.size()));
      blocks.push_back(block);
    }
    successors.resize(blocks.size());
    predecessors.resize(blocks.size());
    for (Index from = 0; from < blocks.size(); ++from) {
      for (const OpExtra::Successor& successor : blocks[from]->successors()) {
        const auto to = numbers.find(successor.block);
        if (to == numbers.end()) continue;  // leads nowhere
        successors[from].push_back(to->second);
        predecessors[to->second].push_back(from);
      }
    }
  }

  /// Reachable blocks, each after all its tree ancestors and its forward predecessors.
  std::vector<Index> reverse_postorder() const {
    std::vector<Index> order;
    std::vector<bool> seen(blocks.size());
    struct Visit {
      Index block;
      std::size_t next_successor;
    };
    std::vector<Visit> path{{0, 0}};
    seen[0] = true;
    while (!path.empty()) {
      Visit& top = path.back();
      if (top.next_successor == successors[top.block].size()) {
        order.push_back(top.block);
        path.pop_back();
        continue;
      }
      const Index next = successors[top.block][top.next_successor++];
      if (seen[next]) continue;
      seen[next] = true;
      path.push_back({next, 0});
    }
    std::ranges::reverse(order);
    return order;
  }

  std::vector<const Block*> blocks;
  std::vector<std::vector<Index>> successors, predecessors;
};

/// Immediate dominators by repeated intersection (Cooper, Harvey, Kennedy: A Simple, Fast Dominance
/// Algorithm). Entry: itself; unreachable: kNone.
std::vector<Index> immediate_dominators(const Flow& flow, const std::vector<Index>& order) {
  std::vector<Index> rank(flow.blocks.size(), kNone);
  for (Index i = 0; i < order.size(); ++i) rank[order[i]] = i;
  std::vector<Index> parent(flow.blocks.size(), kNone);
  parent[0] = 0;
  const auto common = [&](Index a, Index b) {
    while (a != b) {
      while (rank[a] > rank[b]) a = parent[a];
      while (rank[b] > rank[a]) b = parent[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Index block : order) {
      if (block == 0) continue;
      Index found = kNone;
      for (const Index from : flow.predecessors[block]) {
        if (parent[from] == kNone) continue;
        found = found == kNone ? from : common(found, from);
      }
      changed = changed || parent[block] != found;
      parent[block] = found;
    }
  }
  return parent;
}

/// The op that is `op` or holds it and stands in `region`; null: none.
const Op* ancestor_in(const Region* region, const Op& op) {
  const Op* at = &op;
  while (at != nullptr && at->parent_region() != region) at = at->parent_op();
  return at;
}

}  // namespace

Dominance::Dominance(const Region& graph) {
  std::vector<const Region*> open{&graph};
  while (!open.empty()) {
    const Region& next = *open.back();
    open.pop_back();
    if (next.entry() != next.last_block()) build_tree(next);
    for (const Block* block = next.entry(); block != nullptr; block = block->next()) {
      for (const Op* op : block->ops()) {
        if (op->has(Trait::kIsolated)) continue;
        for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
          open.push_back(inner);
        }
      }
    }
  }
}

void Dominance::build_tree(const Region& region) {
  const Flow flow(region);
  const auto order = flow.reverse_postorder();
  const auto parents = immediate_dominators(flow, order);
  std::vector<std::vector<Index>> children(flow.blocks.size());
  for (const Index block : order) {
    if (block != 0) children[parents[block]].push_back(block);
  }
  for (const Block* block : flow.blocks) nodes_[block];
  std::uint32_t clock = 0;
  std::vector<std::pair<Index, bool>> path{{0, false}};
  while (!path.empty()) {
    const auto [block, is_left] = path.back();
    path.pop_back();
    Node& node = nodes_[flow.blocks[block]];
    (is_left ? node.leave : node.enter) = ++clock;
    if (is_left) continue;
    node.parent = block == 0 ? nullptr : flow.blocks[parents[block]];
    path.push_back({block, true});
    for (const Index child : children[block]) path.push_back({child, false});
  }
}

bool Dominance::is_reachable(const Block& block) const {
  const auto found = nodes_.find(&block);
  return found == nodes_.end() || found->second.enter != 0;
}

const Block* Dominance::immediate_dominator(const Block& block) const {
  const auto found = nodes_.find(&block);
  return found == nodes_.end() ? nullptr : found->second.parent;
}

bool Dominance::dominates(const Block& a, const Block& b) const {
  if (&a == &b) return true;
  const auto first = nodes_.find(&a), second = nodes_.find(&b);
  if (first == nodes_.end() || second == nodes_.end()) return false;
  if (second->second.enter == 0) return true;
  return first->second.enter != 0 && first->second.enter < second->second.enter &&
         second->second.leave < first->second.leave;
}

/// Whether `b`, of the same region, is another op that every path reaches after `a`.
bool Dominance::is_behind(const Op& a, const Op& b) const {
  return a.block() == b.block() ? a.is_before_in_block(&b) : dominates(*a.block(), *b.block());
}

bool Dominance::dominates(const Op& a, const Op& b) const {
  const Op* at = ancestor_in(a.parent_region(), b);
  return at != nullptr && (at == &a || is_behind(a, *at));
}

bool Dominance::dominates(const Value& value, const Op& user) const {
  if (const Op* definition = value.defining_op()) {
    const Op* at = ancestor_in(definition->parent_region(), user);
    return at != nullptr && is_behind(*definition, *at);
  }
  if (const Region* region = value.free_in()) return ancestor_in(region, user) != nullptr;
  const Block& block = *value.argument_of();
  const Op* at = ancestor_in(block.parent(), user);
  return at != nullptr && dominates(block, *at->block());
}

}  // namespace mir

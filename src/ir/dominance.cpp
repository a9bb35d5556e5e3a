// Builds the dominator trees of a graph's regions and answers queries about them.
#include "mir/dominance.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "mir/flow_graph.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

using Index = ControlFlowGraph::Index;

/// Immediate dominators by the algorithm of Lengauer and Tarjan with path compression (A Fast
/// Algorithm for Finding Dominators in a Flowgraph, 1979), O(m log n) for n blocks and m edges. The
/// blocks that the entry reaches have the numbers of a depth-first search, 0 for the entry.
class DominatorSearch {
 public:
  explicit DominatorSearch(const ControlFlowGraph& flow)
      : flow_(flow), numbers_(flow.size(), kUnreached) {
    search();
    const auto count = order_.size();
    semi_.resize(count);
    best_.resize(count);
    for (Index i = 0; i < count; ++i) semi_[i] = best_[i] = i;
    ancestor_.assign(count, kUnreached);
    dominators_.assign(count, 0);
    find_dominators();
  }

  /// The reached blocks by number; a dominator has a lower number than what it dominates.
  std::span<const Index> order() const { return order_; }
  /// The number of the immediate dominator of a reached block other than the entry.
  Index dominator(Index number) const { return dominators_[number]; }

 private:
  static constexpr Index kUnreached = ~Index{0};

  void search() {
    struct Visit {
      Index block;
      Index next_successor = 0;
    };
    std::vector<Visit> path;
    const auto enter = [&](Index block, Index parent) {
      numbers_[block] = static_cast<Index>(order_.size());
      order_.push_back(block);
      parents_.push_back(parent);
      path.push_back({block});
    };
    enter(0, 0);
    while (!path.empty()) {
      Visit& top = path.back();
      const auto successors = flow_.successors(top.block);
      if (top.next_successor == successors.size()) {
        path.pop_back();
        continue;
      }
      const Index next = successors[top.next_successor++];
      if (numbers_[next] == kUnreached) enter(next, numbers_[top.block]);
    }
  }

  void find_dominators() {
    const auto count = static_cast<Index>(order_.size());
    // Blocks by their semidominator, as linked lists.
    std::vector<Index> bucket(count, kUnreached), next_in_bucket(count, kUnreached);
    for (Index at = count; at-- > 1;) {
      for (const Index block : flow_.predecessors(order_[at])) {
        if (numbers_[block] != kUnreached) {
          semi_[at] = std::min(semi_[at], semi_[lowest_above(numbers_[block])]);
        }
      }
      next_in_bucket[at] = std::exchange(bucket[semi_[at]], at);
      const Index parent = parents_[at];
      ancestor_[at] = parent;
      for (Index each = std::exchange(bucket[parent], kUnreached); each != kUnreached;
           each = next_in_bucket[each]) {
        const Index lowest = lowest_above(each);
        dominators_[each] = semi_[lowest] < semi_[each] ? lowest : parent;
      }
    }
    for (Index at = 1; at < count; ++at) {
      if (dominators_[at] != semi_[at]) dominators_[at] = dominators_[dominators_[at]];
    }
  }

  /// The number with the lowest semidominator on the path to `at` from the root of its tree, which
  /// is left out, in the forest of the numbers that are done. Compresses the path.
  Index lowest_above(Index at) {
    if (ancestor_[at] == kUnreached) return at;
    path_.clear();
    for (Index each = at; ancestor_[ancestor_[each]] != kUnreached; each = ancestor_[each]) {
      path_.push_back(each);
    }
    for (auto each = path_.rbegin(); each != path_.rend(); ++each) {
      const Index above = ancestor_[*each];
      if (semi_[best_[above]] < semi_[best_[*each]]) best_[*each] = best_[above];
      ancestor_[*each] = ancestor_[above];
    }
    return best_[at];
  }

  const ControlFlowGraph& flow_;
  std::vector<Index> numbers_;  // by block of the region
  // By number.
  std::vector<Index> order_;       // the blocks
  std::vector<Index> parents_;     // in the tree of the search
  std::vector<Index> semi_;        // semidominators
  std::vector<Index> ancestor_;    // in the forest
  std::vector<Index> best_;        // lowest semidominator on the compressed path
  std::vector<Index> dominators_;  // immediate ones
  std::vector<Index> path_;
};

}  // namespace

Dominance::Dominance(const Region& graph) {
  for_each_region(graph, [&](const Region& region) {
    if (region.has_several_blocks()) build_tree(region);
  });
}

void Dominance::build_tree(const Region& region) {
  const ControlFlowGraph flow(region);
  const DominatorSearch search(flow);
  const std::span<const Index> order = search.order();
  const auto block = [&](Index number) { return flow.blocks()[order[number]]; };
  for (const Block* each : flow.blocks()) nodes_[each];
  // Children as linked lists, in the order of the search.
  constexpr Index kNone = ~Index{0};
  std::vector<Index> first_child(order.size(), kNone), next_child(order.size(), kNone);
  for (auto number = static_cast<Index>(order.size()); number-- > 1;) {
    const Index parent = search.dominator(number);
    nodes_[block(number)].parent = block(parent);
    next_child[number] = std::exchange(first_child[parent], number);
  }
  std::uint32_t clock = 0;
  std::vector<std::pair<Index, bool>> path{{0, false}};
  while (!path.empty()) {
    const auto [number, is_left] = path.back();
    path.pop_back();
    Node& node = nodes_[block(number)];
    (is_left ? node.leave : node.enter) = ++clock;
    if (is_left) continue;
    path.push_back({number, true});
    for (Index child = first_child[number]; child != kNone; child = next_child[child]) {
      path.push_back({child, false});
    }
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

/// True if `b`, another op of the same region, comes after `a` on every path to `b`.
bool Dominance::is_behind(const Op& a, const Op& b) const {
  return a.block() == b.block() ? a.is_before_in_block(&b) : dominates(*a.block(), *b.block());
}

bool Dominance::dominates(const Op& a, const Op& b) const {
  const Region* home = a.parent_region();
  if (home == nullptr) return &a == &b || b.is_inside(a);
  const Op* at = b.ancestor_in(*home);
  return at != nullptr && (at == &a || is_behind(a, *at));
}

bool Dominance::dominates(const Value& value, const Op& user) const {
  if (const Op* definition = value.defining_op()) {
    const Op* at = user.ancestor_in(*definition->parent_region());
    return at != nullptr && is_behind(*definition, *at);
  }
  if (const Region* region = value.free_in()) return user.ancestor_in(*region) != nullptr;
  const Block& block = *value.argument_of();
  const Op* at = user.ancestor_in(*block.parent());
  return at != nullptr && dominates(block, *at->block());
}

}  // namespace mir

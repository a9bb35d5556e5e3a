// Dominance over blocks and ops.
//
// Block a dominates block b of the same region if every path from the region's entry to b, along
// successors, passes a. An op dominates the ops after it in its block, the ops in blocks that its
// block dominates, and the ops nested in these.
//
// note [unreachable blocks]
// No path reaches them, so every block dominates them and they dominate only themselves. A use in
// code that never runs is always valid.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mir/op.hpp"

namespace mir {

/// Dominance in a graph: its region and the regions nested in it. Isolated ops, such as the graphs
/// in a module's body, are ops of it, but their regions are not part of it. Edits of blocks or
/// successors make it stale, those of ops within blocks do not. Queries take constant time per
/// level of nesting.
class Dominance {
 public:
  static constexpr std::string_view kAnalysisName = "dominance";

  explicit Dominance(const Region& graph);

  bool is_reachable(const Block& block) const;
  /// Null for entries and unreachable blocks.
  const Block* immediate_dominator(const Block& block) const;
  /// Blocks of one region; every block dominates itself.
  bool dominates(const Block& a, const Block& b) const;
  /// Every op dominates itself and what is nested in it.
  bool dominates(const Op& a, const Op& b) const;
  /// True if the order allows `user` to use `value`: arguments and free values anywhere in their
  /// region, results after the op that defines them and not inside it.
  bool dominates(const Value& value, const Op& user) const;

  friend bool operator==(const Dominance&, const Dominance&) = default;

 private:
  struct Node {
    const Block* parent = nullptr;  // immediate dominator
    // Entering and leaving numbers of a walk over the tree; both 0: unreachable.
    std::uint32_t enter = 0;
    std::uint32_t leave = 0;
    friend bool operator==(const Node&, const Node&) = default;
  };

  void build_tree(const Region& region);
  bool is_behind(const Op& a, const Op& b) const;

  // Blocks of regions with several; a region's only block dominates everything in it.
  std::unordered_map<const Block*, Node> nodes_;
};

}  // namespace mir

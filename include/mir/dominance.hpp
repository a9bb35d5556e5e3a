// Dominance over blocks and ops.
//
// Block a dominates block b of the same region when every path from the region's entry to b passes
// a; the paths are those along the successors of each block's last op. An op dominates what stands
// after it in its block, what is in blocks that its block dominates, and what is nested in either.
//
// note [unreachable blocks]
// No path reaches them, so every block dominates them and they dominate nothing else. Code that
// never runs makes no use wrong.
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
  /// Whether `user` may use `value` as far as order goes: arguments and free values everywhere in
  /// their region, results after the op that has them and not inside it.
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

// Patterns that an op comes from.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "mir/op.hpp"

namespace mir {

/// The rewrites that led to an op, from the last to the first: what a pattern makes, or leaves in
/// place of its root, comes from the rewrites of the root and from this one.
class Lineage {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// A rewrite of the root by the pattern of this number.
  std::uint32_t add(const Op& root, std::uint32_t pattern) {
    const std::uint32_t parent = of(root);
    const std::uint32_t depth = parent == kNone ? 1 : rewrites_[parent].depth + 1;
    rewrites_.push_back({pattern, parent, depth});
    return static_cast<std::uint32_t>(rewrites_.size() - 1);
  }
  void set(const Op& op, std::uint32_t rewrite) { by_op_[op.id()] = rewrite; }
  std::uint32_t depth(std::uint32_t rewrite) const { return rewrites_[rewrite].depth; }

  /// The patterns that come again and again at the end of a history, in their order; one that no
  /// few patterns repeat gives the last.
  std::vector<std::uint32_t> cycle(std::uint32_t rewrite) const;

 private:
  struct Rewrite {
    std::uint32_t pattern, parent, depth;
  };
  std::uint32_t of(const Op& op) const {
    const auto found = by_op_.find(op.id());
    return found == by_op_.end() ? kNone : found->second;
  }

  std::vector<Rewrite> rewrites_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_op_;  // by id
};

}  // namespace mir

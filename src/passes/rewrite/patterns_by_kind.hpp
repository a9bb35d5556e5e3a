// Patterns by the kind of their roots, and the driver that uses them.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "mir/rewrite_patterns.hpp"

namespace mir {

/// The patterns of a set that can have a root of some kind. Looked up once for each kind that a
/// pass meets in any graph. May be used by several threads at once.
class PatternsByKind {
 public:
  struct Candidate {
    std::uint32_t number = 0;
    OperandDefinitions definitions;
  };
  using Candidates = std::vector<Candidate>;

  explicit PatternsByKind(const FrozenPatterns& patterns) : patterns_(patterns) {}

  std::span<const RewritePattern> patterns() const { return patterns_.patterns(); }
  const RewritePattern& pattern(std::uint32_t number) const { return patterns()[number]; }
  std::string_view label(std::size_t pattern) const { return patterns_.label(pattern); }
  /// In the order in which they are tried.
  std::span<const Candidate> of(const Op& op) const {
    const std::size_t kind = op.kind().id;
    const Candidates* known =
        kind < kSlots ? slots_[kind].load(std::memory_order_acquire) : nullptr;
    return known != nullptr ? *known : add(op.info(), kind);
  }

 private:
  /// Kinds with higher numbers are looked up under the lock.
  static constexpr std::size_t kSlots = 512;

  const Candidates& add(const OpKindInfo& kind, std::size_t number) const;

  const FrozenPatterns& patterns_;
  mutable std::array<std::atomic<const Candidates*>, kSlots> slots_{};
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::size_t, Candidates> by_kind_;  // its elements never move
};

/// As rewrite_greedily() of mir/rewrite_patterns.hpp.
GreedyReport rewrite_greedily(Module& module, Region& region, const PatternsByKind& patterns,
                              const GreedyOptions& options, Diagnostics& diagnostics);

}  // namespace mir

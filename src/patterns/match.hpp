// Matching ops with a pattern, and what the pattern then makes of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/rewriter.hpp"
#include "patterns/pattern.hpp"
#include "patterns/plan_graph.hpp"

namespace mir::patterns {

/// Result of a rewrite, complete before anything is edited.
struct Plan : GraphPlan {
  std::vector<Op*> matched;            ///< the root first
  std::vector<Value*> replaced;        ///< in the order of the results
  std::vector<std::uint32_t> results;  ///< the values of the rewrite that replace them
  Op* before = nullptr;                ///< where new ops go
  Bindings bindings;                   ///< of the match; empty if no reasons were requested
};

/// Why a pattern does not match, at the op that came nearest.
struct Mismatch {
  std::string reason;  ///< completes "it does not match because ..."; may name what differs
  const Op* at = nullptr;
};

/// Compares the ops around a root with a pattern. Edits nothing. With `explains`, the reasons say
/// what differs; otherwise they are not built.
std::optional<Plan> match(const Pattern& pattern, Op& root, bool explains, Mismatch& mismatch);

/// Makes what was planned, replaces the values and erases the matched ops that nothing uses.
void apply(Rewriter& rewriter, const Plan& plan);

}  // namespace mir::patterns

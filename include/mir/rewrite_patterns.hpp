// Patterns that rewrite ops, and the driver that applies them until none fits any more.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/pass.hpp"
#include "mir/rewriter.hpp"

namespace mir {

/// A rewrite of one op, its root, and of what is around it.
struct RewritePattern {
  std::string name;  ///< unique in its set
  /// Of several patterns that fit, the one with the greatest benefit is applied; of equal ones that
  /// which was added first. Any order must give right results.
  unsigned benefit = 1;
  /// Whether a root can be of this kind; asked once for each kind of a run.
  std::function<bool(const OpKindInfo& kind)> fits;
  /// Rewrites the root, or gives false and has changed nothing. The rewriter has no insertion
  /// point. Edits nothing outside the root's graph, and leaves sound IR.
  std::function<bool(Rewriter& rewriter, Op& root)> rewrite;
};

class PatternSet {
 public:
  void add(RewritePattern pattern) { patterns_.push_back(std::move(pattern)); }
  std::span<const RewritePattern> patterns() const { return patterns_; }

 private:
  std::vector<RewritePattern> patterns_;
};

/// Applies patterns to the ops of the run's region and of regions inside it, but not inside graphs
/// there, until none fits; removes pure ops whose results nothing uses, and constants that nothing
/// uses. Counts ops that were removed and rewrites by pattern in the run's statistics.
///
/// Ops are visited once in the order of the text; after that those are that were made, those whose
/// operands or attributes changed, users of results that were replaced, and ops that lost a use,
/// in the order in which this happened. So the result does not depend on addresses, ids or threads.
///
/// Fails after reporting patterns that undo each other, by name, or that go on without end: an op
/// whose history is longer than a graph can account for, or more than 8 rewrites for each op and
/// 10,000.
PassResult rewrite_greedily(PassRun& run, const PatternSet& patterns);

}  // namespace mir

// Calls that the bodies of their graphs replace.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mir/call_graph.hpp"
#include "mir/rewriter.hpp"

namespace mir {

/// Inlines calls. The locations of the ops name the calls around them, the innermost eight: see
/// inlined_calls().
class CallInliner {
 public:
  CallInliner(Rewriter& rewriter, const CallGraph& calls)
      : rewriter_(rewriter), recursive_(calls.recursive_graphs()) {}

  /// True if the graph has one block that ends with a return, does not call itself, and fits the
  /// call.
  bool can_inline(const Op& call, const Op& graph) const;

  /// Replaces the call by a copy of the graph's body. Requires can_inline().
  void inline_copy(Op& call, const Op& graph);
  /// Inlines the only call of a graph without nested graphs: moves the body and erases the graph.
  void inline_only(Op& call, Op& graph);

 private:
  struct Located {
    Op* op = nullptr;
    std::uint32_t calls = 0;  // in its location
  };
  using LocatedOps = std::vector<Located>;

  LocatedOps& ops_of(const Op& graph);
  void locate(const Op& graph, const Op& call);

  Rewriter& rewriter_;
  std::unordered_set<const Op*> recursive_;
  // Ops whose locations take further calls, by graph. A walk at each level would be quadratic.
  std::unordered_map<const Op*, LocatedOps> ops_;
};

}  // namespace mir

// Graphs in the order in which a module runs them.
#pragma once

#include <unordered_set>

#include "mir/ops.hpp"

namespace mir {

/// Follows calls: the walk that goes into a graph where it is called, and at its first call only.
class CallOrder {
 public:
  /// Where a call leads.
  struct Entry {
    SubGraphOp graph;       ///< empty: to no graph that has a body
    bool is_first = false;  ///< no call has led there before

    explicit operator bool() const { return static_cast<bool>(graph); }
    Region& body() const { return *graph.body(); }
  };

  Entry enter(CallGraphOp call) {
    const SubGraphOp graph = call.target();
    if (!graph || graph.body() == nullptr) return {};
    return {graph, enter(graph)};
  }
  /// Enters a graph. True if it was not entered before.
  bool enter(SubGraphOp graph) { return entered_.insert(graph.op()).second; }

 private:
  std::unordered_set<const Op*> entered_;
};

}  // namespace mir

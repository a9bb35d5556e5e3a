// Control flow, calls and effects of ops, as their rows declare them.
#pragma once

#include <optional>
#include <vector>

#include "mir/op.hpp"

namespace mir {

/// The edges between an op and its regions. No value if they are unknown: the op has regions and no
/// row, or a row that does not declare them. A graph has none, since only calls run it.
std::optional<std::vector<RegionEdge>> region_edges(const Op& op);

/// How often a region runs each time that control reaches its op.
struct RegionRuns {
  bool at_least_once = false;
  bool at_most_once = false;
};
/// What the edges of the op imply. Both are false if they are unknown.
RegionRuns runs_of(const Region& region);

/// Whether a region of the op may run several times, each time after itself or another one.
bool is_loop(const Op& op);

/// The symbol of the graph that the op runs on its operands. No value if the op is no call.
std::optional<Symbol> callee_of(const Op& op);
/// Whether the op is a graph: a region that calls run, by the op's symbol.
inline bool is_graph(const Op& op) {
  return op.has(Trait::kCallable);
}
/// The region of the graph, module or other isolated op around a region, which is this region or
/// contains it. The outermost region if no op around it is isolated.
template <class AnyRegion>
AnyRegion& graph_around(AnyRegion& region) {
  AnyRegion* at = &region;
  while (!at->parent()->has(Trait::kIsolated) && at->parent()->parent_region() != nullptr) {
    at = at->parent()->parent_region();
  }
  return *at;
}
/// The graph that a call runs; null if the op is no call, or if no graph with a body has the
/// symbol, and while passes work on graphs, which other threads may change.
Op* called_graph(const Op& op);

/// The named state that the effects of the op touch; the empty symbol if it may be any, or if it
/// has no effect.
Symbol resource_of(const Op& op);
/// Whether exchanging two ops may change the state that either reads or writes: one writes, and
/// both may touch the same named state. True if the effects of one are unknown.
bool may_conflict(const Op& a, const Op& b);

/// Whether the op leaves its region when it ends a block: a terminator without successors.
inline bool leaves_region(const Op& op) {
  return op.has(Trait::kTerminator) && op.extra().successors.empty();
}

/// The first op, in text order, that leaves the region from one of its blocks; null if none does.
const Op* first_return(const Region& region);

}  // namespace mir

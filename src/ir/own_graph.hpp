// Isolated ops whose regions are graphs of their own.
#pragma once

#include "mir/op.hpp"

namespace mir {

/// True if the regions of an op are a graph of their own, on which a pass works apart from what is
/// around the op. The regions of other isolated ops belong to the graph around them: whoever edits
/// or erases the op may edit them.
inline bool has_own_graph(const Op& op) {
  return op.has(Trait::kIsolated) && op.has(Trait::kSymbol | Trait::kCallable);
}

}  // namespace mir

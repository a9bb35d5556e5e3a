// The ops of one graph.
#pragma once

#include "mir/op.hpp"

namespace mir {

/// Calls `visit(op)` for each op of the region and of those inside it, in order; graphs inside it
/// are ops, what is in them is not visited.
void for_each_of_graph(const Region& region, const auto& visit) {
  for (Block* block = region.entry(); block != nullptr; block = block->next()) {
    for (Op* op : block->ops()) {
      visit(*op);
      if (op->has(Trait::kIsolated)) continue;
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        for_each_of_graph(*inner, visit);
      }
    }
  }
}

}  // namespace mir

// Walks over everything in a region and in the regions of its ops.
#pragma once

#include <vector>

#include "mir/rewriter.hpp"

namespace mir {

/// Calls `visit` on the region and on those inside it.
template <typename Visit>
void each_region(Region& region, const Visit& visit) {
  visit(region);
  for (Block* block = region.entry(); block != nullptr; block = block->next()) {
    for (Op* op : block->ops()) {
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        each_region(*inner, visit);
      }
    }
  }
}

/// Calls `visit` on each value and the op that it belongs to: the one that gives it, for arguments
/// and for what nothing defines the owner of the region.
template <typename Visit>
void each_value(Region& region, Op& owner, const Visit& visit) {
  for (Value* value : region.free_values()) visit(*value, owner);
  for (Block* block = region.entry(); block != nullptr; block = block->next()) {
    for (Value& argument : block->arguments()) visit(argument, owner);
    for (Op* op : block->ops()) {
      for (Value& result : op->results()) visit(result, *op);
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        each_value(*inner, *op, visit);
      }
    }
  }
}

/// Lets `edit` change each result that the region states.
template <typename Edit>
void edit_results(Rewriter& rewriter, Region& region, const Edit& edit) {
  std::vector<RegionResult> results = stated_results(region);
  if (results.empty()) return;
  for (RegionResult& result : results) edit(result);
  rewriter.state_results(region, results);
}

}  // namespace mir

// The results that a region states.
#pragma once

#include <vector>

#include "mir/rewriter.hpp"

namespace mir {

/// Lets `edit` change each result that the region states.
template <typename Edit>
void edit_results(Rewriter& rewriter, Region& region, const Edit& edit) {
  std::vector<RegionResult> results = stated_results(region);
  if (results.empty()) return;
  for (RegionResult& result : results) edit(result);
  rewriter.state_results(region, results);
}

}  // namespace mir

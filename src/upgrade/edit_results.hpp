// The results that a region states.
#pragma once

#include <algorithm>
#include <vector>

#include "mir/rewriter.hpp"

namespace mir {

inline bool are_same_results(const RegionResult& a, const RegionResult& b) {
  return a.name == b.name && a.type == b.type && a.symbol == b.symbol &&
         a.has_symbol == b.has_symbol && std::ranges::equal(a.attributes, b.attributes);
}

/// Lets `edit` change each result that the region states.
template <typename Edit>
void edit_results(Rewriter& rewriter, Region& region, const Edit& edit) {
  const std::vector<RegionResult> before = signature_results(region);
  std::vector<RegionResult> results = before;
  for (RegionResult& result : results) edit(result);
  if (!std::ranges::equal(results, before, are_same_results)) {
    rewriter.state_results(region, results);
  }
}

}  // namespace mir

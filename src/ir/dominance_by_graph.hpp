// Dominance of the graphs of a module, computed on demand.
#pragma once

#include <unordered_map>

#include "mir/control_flow.hpp"
#include "mir/dominance.hpp"

namespace mir {

class DominanceByGraph {
 public:
  /// Returns the dominance of the graph that contains the region, directly or nested in other ops.
  const Dominance& around(const Region& region) {
    const Region& graph = graph_around(region);
    return of_graphs_.try_emplace(&graph, graph).first->second;
  }

 private:
  std::unordered_map<const Region*, Dominance> of_graphs_;
};

}  // namespace mir

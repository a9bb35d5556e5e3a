// Cost of a module before any run: arithmetic, memory traffic and peak memory.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "mir/call_graph.hpp"
#include "mir/module.hpp"
#include "mir/work.hpp"
#include "passes/estimate/maximum.hpp"

namespace mir {

/// The work of one op each time that it runs.
struct OpCost {
  Op* op = nullptr;
  OpWork work{};
  Dim runs{1};  ///< in one run of its graph; unknown in a loop
};

/// The cost of one run of a graph.
struct GraphCost {
  Op* graph = nullptr;        ///< the module's op for its body
  std::vector<OpCost> ops{};  ///< in text order, nested ops and calls included
  OpWork work{};              ///< of all ops; a call has the work of its graph
  Dim runs{};                 ///< in one run of the module
  /// The most bytes of values that are alive at once, as StorageLife defines, and the inputs, which
  /// are alive all the time. Parameters, constants and caches do not count. Of branches the one
  /// that needs most counts. Unknown for a graph that calls itself.
  Maximum peak{Dim::unknown()};
  Maximum peak_without_inputs{Dim::unknown()};
};

/// Costs of the graphs of a portable module. Extents may be symbolic. Graphs that nothing calls are
/// included, declarations of parameters are not.
class CostEstimate {
 public:
  explicit CostEstimate(const Module& module);

  /// The body first, then all graphs in text order.
  std::span<const GraphCost> graphs() const { return graphs_; }
  const GraphCost& body() const { return graphs_.front(); }

 private:
  class Maker;
  std::vector<GraphCost> graphs_;
};

/// All parts `times` as large.
OpWork scaled(DimTable& table, const OpWork& work, Dim times);
OpWork sum_of(DimTable& table, const OpWork& a, const OpWork& b);

}  // namespace mir

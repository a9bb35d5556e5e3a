// The most bytes of values that are alive at once.
#pragma once

#include <functional>

#include "mir/op.hpp"
#include "passes/estimate/maximum.hpp"

namespace mir {

/// The peak of the graph that a call runs; null if it is not known.
using PeakOfCall = std::function<const Maximum*(const Op& call)>;

/// The peak of one run of a graph, inputs included. A value is alive from its definition to its
/// last use on any way. While an op with regions runs, the region that needs most counts besides
/// what is alive around the op.
Maximum peak_of_graph(const Region& graph, DimTable& table, const PeakOfCall& peak_of_call);

}  // namespace mir

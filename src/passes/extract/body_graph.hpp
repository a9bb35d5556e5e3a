// The body of a module as a graph.
#pragma once

#include <string_view>

#include "mir/rewriter.hpp"

namespace mir {

/// Moves the blocks of a module to a new graph with the same inputs and results, and returns it.
/// Graphs and registers stay. Nothing else is left in the module, which has to get an end.
Op& move_body_to_graph(Rewriter& rewriter, std::string_view name);

/// True if the op only declares something: a graph or a parameter.
bool declares(const Op& op);

}  // namespace mir

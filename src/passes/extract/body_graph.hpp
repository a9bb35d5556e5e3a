// The body of a module as a graph.
#pragma once

#include <span>
#include <string_view>

#include "mir/rewriter.hpp"

namespace mir {

/// Moves the blocks of a module to a new graph with the same inputs and results, and returns it.
/// Graphs and registers stay. Nothing else is left in the module, which has to get an end.
Op& move_body_to_graph(Rewriter& rewriter, std::string_view name);

/// True if the op only declares something: a graph or a parameter.
bool declares(const Op& op);

/// Moves the graphs and parameters that blocks of one region declare to its entry, in their order,
/// behind those of the entry. There they survive if a block is erased or becomes a region of an op.
void move_declarations(Rewriter& rewriter, std::span<Block* const> blocks);

/// Erases the graphs inside a copy of a graph. Calls find those inside the original.
void erase_inner_graphs(Rewriter& rewriter, Op& copy);

}  // namespace mir

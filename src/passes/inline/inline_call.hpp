// A call that the body of its graph replaces.
#pragma once

#include "mir/call_graph.hpp"
#include "mir/rewriter.hpp"

namespace mir {

/// Whether the graph has one block that ends with a return, does not call itself, and fits the
/// call.
bool can_inline_call(const Op& call, const Op& graph, const CallGraph& calls);

/// Replaces the call by a copy of the graph's body, whose ops are located at the call. Requires
/// can_inline_call().
void inline_call(Rewriter& rewriter, Op& call, const Op& graph);

/// The same for the only call of a graph without graphs inside: its body moves, the graph is
/// erased.
void inline_only_call(Rewriter& rewriter, Op& call, Op& graph);

}  // namespace mir

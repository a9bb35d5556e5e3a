// All extents of a module.
#pragma once

#include <functional>
#include <set>

#include "mir/module.hpp"

namespace mir {

/// Calls `visit` with each extent in the types of values and in the attributes of ops, as often as
/// it occurs, and with the op that has it.
void for_each_extent(const Module& module, const std::function<void(Dim, const Op&)>& visit);

/// Calls `visit` with each symbol that the results of an op find out: their extents have it,
/// neither the operands nor the attributes do. Rules leave such extents unknown. A call finds out
/// those of its graph.
void for_each_symbol_found_out(const Op& op, const std::function<void(Symbol)>& visit);

/// Whether a graph finds out symbols when it runs, by its ops or by those of graphs that it calls.
bool decides_symbols(const Op& graph);

/// The symbols of all extents, in order of their names.
std::set<std::string_view> symbols_of_extents(const Module& module);

}  // namespace mir

// All extents of a module.
#pragma once

#include <functional>
#include <set>
#include <unordered_set>

#include "mir/module.hpp"

namespace mir {

/// Calls `visit` with each extent in the types of values and in the attributes of ops, as often as
/// it occurs, and with the op that has it. Attributes whose symbols belong to the op itself are
/// left out (own_symbols.hpp); so they are in all functions here.
void for_each_extent(const Module& module, const std::function<void(Dim, const Op&)>& visit);

/// Calls `visit` with each extent in the attributes of an op.
void for_each_extent_of_attributes(const Op& op, const std::function<void(Dim)>& visit);

/// Calls `visit` with each extent in the attributes of an op and in the types of its results.
void for_each_extent_of(const Op& op, const std::function<void(Dim)>& visit);

/// True if a minimum or a maximum occurs in the extent, which version 1 does not have.
bool has_extremum(Dim extent);

/// Calls `visit` with each symbol that the results of an op find out: their extents have it,
/// neither the operands nor the attributes that the row declares do. Rules leave such extents
/// unknown. A call finds out those of its graph, a condition those that its regions pass in
/// different ways (joined_extents.hpp).
void for_each_symbol_found_out(const Op& op, const std::function<void(Symbol)>& visit);

/// Like for_each_symbol_found_out(), but also for ops whose rule infers the extents of results, and
/// for those without a rule.
void for_each_symbol_of_results_alone(const Op& op, const std::function<void(Symbol)>& visit);

/// True if an op finds out symbols. Then the op stays where it is: types and attributes of other
/// ops may depend on it without using a result.
bool finds_out_symbols(const Op& op);

/// The symbols of all extents, in order of their names.
std::set<std::string_view> symbols_of_extents(const Module& module);

}  // namespace mir

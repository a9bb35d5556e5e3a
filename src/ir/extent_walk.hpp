// All extents of a module.
#pragma once

#include <functional>
#include <set>

#include "mir/module.hpp"

namespace mir {

/// Calls `visit` with each extent in the types of values and in the attributes of ops, as often as
/// it occurs, and with the op that has it.
void for_each_extent(const Module& module, const std::function<void(Dim, const Op&)>& visit);

/// The symbols of all extents, in order of their names.
std::set<std::string_view> symbols_of_extents(const Module& module);

}  // namespace mir

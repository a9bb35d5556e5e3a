// A text that is the same for all texts which differ in ids, layout and order of attributes only.
#pragma once

#include <span>
#include <string>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

/// Sorts the attributes of ops, values and signatures by key, in place, and prints the modules with
/// ids in order of first appearance and aliases expanded. Values of portable modules have numbers
/// of their own. Comments are left out.
Result<std::string> normal_form(std::span<Module* const> modules);

}  // namespace mir

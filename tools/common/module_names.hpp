// The modules of a text, and the one that an option names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input_names.hpp"
#include "mir/module.hpp"

namespace mir::tools {

void add_names(InputNames& names, std::span<Module* const> modules);

/// The modules of this name, otherwise the one at this position in the text, from 0 on. All modules
/// if the name is empty.
std::vector<Module*> select_modules(std::span<Module* const> modules, std::string_view name);
/// Returns an error with the places of all if the option selects several modules. `file` is the
/// name of the text.
Result<void> check_unambiguous(std::span<Module* const> modules, const Option<std::string>& row,
                               std::string_view file);

/// The module that the option selects, or the only one if no name is given; never null. An error if
/// the text has no such module or several.
Result<Module*> choose_module(std::span<Module* const> modules, const Option<std::string>& row,
                              std::string_view file);

}  // namespace mir::tools

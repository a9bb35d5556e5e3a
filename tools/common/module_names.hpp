// The modules of a text, and the one that an option names.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "input_names.hpp"
#include "mir/module.hpp"

namespace mir::tools {

void add_names(InputNames& names, std::span<Module* const> modules);

/// The module of the option's name, or the only one if no name is given; never null. `file` is the
/// name of the text. An error if the text has no such module or several.
Result<Module*> choose_module(std::span<Module* const> modules, const Option<std::string>& row,
                              std::string_view file);

}  // namespace mir::tools

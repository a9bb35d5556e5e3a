// How grants name launches that have no name.
#pragma once

#include <string>
#include <unordered_map>

#include "program/program_code.hpp"

namespace mir {

/// The place of each launch without a name, as that of its op in the lifted graph: `body.Type.k`,
/// and `Type.k` in what runs first; k counts launches of the type in their body.
std::unordered_map<const Op*, std::string> launch_places(const ProgramCode& code);

}  // namespace mir

// Names of launches for grants, for launches that have no name of their own.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "program/program_code.hpp"

namespace mir {

/// The place of each launch without a name, as that of its op in the lifted graph: `body.Type.k`,
/// and `Type.k` in what runs first; k counts launches of the type in their body.
std::unordered_map<const Op*, std::string> launch_places(const ProgramCode& code);

/// Returns the type in the place of an op that has a type name: that name, except for VisionRoPE,
/// whose type name is that of an activation.
std::string_view type_in_place(const OpKindInfo& kind);

}  // namespace mir

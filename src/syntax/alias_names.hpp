// Names of aliases, which follow from what they stand for.
#pragma once

#include <string>
#include <string_view>

namespace mir {

/// Returns the name for a type as a text spells it: its element type and extents, and its device if
/// that is not the CPU, as `!f32_1xSx64`. Different types can have one name.
std::string alias_of_type(std::string_view type);

/// Returns the name for a QuantSpec as a text spells it: its stored type, kind and uuid, as
/// `#q_u16_asym_2832`. Different specs can have one name.
std::string alias_of_quant_spec(std::string_view spec);

}  // namespace mir

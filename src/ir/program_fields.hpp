// Words of programs: names of fragments and labels. Keys of attributes are in
// mir/attribute_keys.hpp.
#pragma once

#include <string_view>

namespace mir::program_field {

inline constexpr std::string_view kEntrySuffix = ".__entry";  // of the label of a graph

}  // namespace mir::program_field

namespace mir::program_fragment {

inline constexpr std::string_view kCode = "code";
inline constexpr std::string_view kData = "data";
inline constexpr std::string_view kTable = "table";

}  // namespace mir::program_fragment

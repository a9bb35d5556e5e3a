// Lists of patterns of names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "support/wildcards.hpp"

namespace mir::tools {

/// True if one of the patterns matches the name.
template <std::size_t N>
bool is_among(std::string_view name, const std::string_view (&patterns)[N]) {
  return std::ranges::any_of(
      patterns, [&](std::string_view pattern) { return fits_wildcards(pattern, name); });
}

}  // namespace mir::tools

// Attributes that run into each other because a comma between them is missing.
#pragma once

#include <string_view>
#include <vector>

#include "mir/context.hpp"

namespace mir {

/// Offsets in the unquoted `text` of an attribute where commas are missing: `0 dim1:1` is two
/// attributes. Empty if the text may be one string: it does not begin with a number, a boolean or
/// null, and one of its later keys is not an attribute of the op. `row` may be null.
std::vector<std::size_t> missing_commas(std::string_view text, const OpRow* row);

}  // namespace mir

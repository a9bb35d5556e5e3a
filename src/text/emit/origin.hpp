// Where a value and its extents come from.
#pragma once

#include <cstddef>
#include <string>

#include "mir/op.hpp"

namespace mir {

/// Describes a value and, step by step, the values that it is computed from, nearest first: the
/// type of each, the op that defines it with its attributes and operands, and the place of the op.
/// Ends at inputs, constants and parameters, and after `most` values.
std::string describe_origin(const Value& value, std::size_t most = 16);

}  // namespace mir

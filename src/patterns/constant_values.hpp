// Lists of numbers as the elements of constants.
#pragma once

#include <string>

#include "mir/type.hpp"

namespace mir::patterns {

/// What keeps the values from being the elements of a constant of this type, in words; empty:
/// nothing.
std::string breach_of_values(const TensorType& type, const Attr& values);

}  // namespace mir::patterns

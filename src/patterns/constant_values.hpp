// Lists of numbers as the elements of constants.
#pragma once

#include <string>

#include "mir/type.hpp"

namespace mir::patterns {

/// Explains why the values cannot be the elements of a constant of this type; empty if they can.
std::string breach_of_values(const TensorType& type, const Attr& values);

}  // namespace mir::patterns

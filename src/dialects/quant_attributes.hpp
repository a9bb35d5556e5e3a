// Scales and zero points that values have as attributes.
#pragma once

#include <optional>
#include <vector>

#include "mir/context.hpp"

namespace mir::quant_attributes {

/// The numbers of a list, or the one number; no value if the attribute is something else.
std::optional<std::vector<double>> numbers_of(const Attr& attribute);

/// True if the nearest Float32 is positive and finite.
bool is_scale(double number);
/// True for integers from -(2^31 - 1) to 2^31 - 1.
bool is_zero_point(double number);

}  // namespace mir::quant_attributes

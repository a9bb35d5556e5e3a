// Scales and zero points that values have as attributes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "mir/context.hpp"

namespace mir::quant_attributes {

inline constexpr std::string_view kScale = "quant_scale";
inline constexpr std::string_view kZeroPoint = "quant_zero_point";
/// The stem of the tensors that contain both.
inline constexpr std::string_view kSource = "quant_source";

/// The numbers of a list, or the one number; no value if the attribute is something else.
std::optional<std::vector<double>> numbers_of(const Attr& attribute);

/// True if the nearest Float32 is positive and finite.
bool is_scale(double number);
/// True for integers from -(2^31 - 1) to 2^31 - 1.
bool is_zero_point(double number);

}  // namespace mir::quant_attributes

// Reads scales and zero points from attributes of values.
#include "dialects/quant_attributes.hpp"

#include <algorithm>
#include <cmath>

namespace mir::quant_attributes {

std::optional<std::vector<double>> numbers_of(const Attr& attribute) {
  const auto is_number = [](const Attr* each) {
    return each->kind() == AttrKind::kInt || each->kind() == AttrKind::kFloat;
  };
  if (is_number(&attribute)) return std::vector{attribute.number()};
  if (attribute.kind() != AttrKind::kArray || !std::ranges::all_of(attribute.elements(), is_number))
    return std::nullopt;
  std::vector<double> numbers;
  for (const Attr* each : attribute.elements()) numbers.push_back(each->number());
  return numbers;
}

bool is_scale(double number) {
  const auto nearest = static_cast<float>(number);
  return nearest > 0 && std::isfinite(nearest);
}

bool is_zero_point(double number) {
  constexpr double kLargest = 2147483647;
  return number >= -kLargest && number <= kLargest && number == std::trunc(number);
}

}  // namespace mir::quant_attributes

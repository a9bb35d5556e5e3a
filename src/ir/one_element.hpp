// Types of conditions, bounds and indices: one element of some kind of numbers.
#pragma once

#include <algorithm>

#include "mir/tensor.hpp"
#include "mir/type.hpp"

namespace mir {

inline bool is_index(DType type) {
  return type == DType::kInt32 || type == DType::kInt64;
}
inline bool is_condition(DType type) {
  return type == DType::kBool;
}

/// True if a type is one element of one of the kinds of numbers, or may be one if the number is
/// unknown. True for null.
inline bool is_one_element(const Type* type, bool (*admits)(DType)) {
  if (type == nullptr) return true;
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr || !tensor->dtype() || !admits(*tensor->dtype())) return false;
  return std::ranges::all_of(tensor->dims(),
                             [](Dim dim) { return !dim.is_constant() || dim.constant() == 1; });
}

}  // namespace mir

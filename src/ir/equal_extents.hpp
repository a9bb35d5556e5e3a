// Whether extents are equal in every run, which equal types do not tell.
#pragma once

#include <algorithm>

#include "mir/type.hpp"

namespace mir {

/// True if two extents are equal in every run. False for two unknown extents, which are equal types
/// (`==`) but may be different numbers.
inline bool equal_extents(Dim a, Dim b) {
  return a == b && !a.is_unknown() && !a.is_negative();
}

/// True if the tensors have the same shape in every run.
inline bool equal_extents(const TensorType& a, const TensorType& b) {
  return std::ranges::equal(a.dims(), b.dims(), [](Dim x, Dim y) { return equal_extents(x, y); });
}

}  // namespace mir

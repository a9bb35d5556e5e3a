// A limit that every tensor type must keep.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mir/type.hpp"

namespace mir {

/// True if the product of the constant extents, 0 and less counted as 1, fits 63 bits.
inline bool is_countable(const TensorType& type) {
  std::int64_t count = 1;
  return std::ranges::none_of(type.dims(), [&](Dim dim) {
    return dim.is_constant() &&
           __builtin_mul_overflow(count, std::max<std::int64_t>(dim.constant(), 1), &count);
  });
}

}  // namespace mir

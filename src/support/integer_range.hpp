// Which numbers integer types hold.
#pragma once

#include <cstdint>
#include <optional>

#include "mir/tensor.hpp"

namespace mir {

struct IntegerRange {
  std::int64_t low, high;
};

/// What a type of integers of at most 32 bits holds; none for any other type.
std::optional<IntegerRange> integer_range(DType dtype);

}  // namespace mir

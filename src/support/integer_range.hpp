// Ranges of integer types.
#pragma once

#include <cstdint>
#include <optional>

#include "mir/tensor.hpp"

namespace mir {

struct IntegerRange {
  std::int64_t low, high;
};

/// Returns the range of an integer type of at most 32 bits; no value for any other type.
std::optional<IntegerRange> integer_range(DType dtype);

}  // namespace mir

// Ranges of symbolic extents, by interval arithmetic.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "extents/dim_expr.hpp"

namespace mir {

/// Both ends included. An end at the limit of 64 bits is open: there is no bound.
struct ExtentRange {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();

  bool has_least() const { return least != std::numeric_limits<std::int64_t>::min(); }
  bool has_most() const { return most != std::numeric_limits<std::int64_t>::max(); }
  friend bool operator==(const ExtentRange&, const ExtentRange&) = default;
};

/// The range of a symbol. Its least value must not be negative.
using SymbolRangeFn = std::function<ExtentRange(Symbol)>;

/// Returns a range that holds the sum for all values of its symbols, taken independently. No value
/// where a bound exceeds 64 bits or a divisor may be less than 1.
std::optional<ExtentRange> range_of(const Polynomial& sum, const SymbolRangeFn& range_of_symbol);

}  // namespace mir

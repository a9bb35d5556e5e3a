// What SliceOp selects.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mir/ir/dim.hpp"
#include "mir/ir/op.hpp"
#include "mir/support/result.hpp"

namespace mir {

/// `length` indices from `start` on, `step` apart; all inside the extent.
struct SliceBounds {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t length = 0;
};

/// Attribute `indices` on a value with these extents, one entry for each; symbols in it have their
/// values in `dims` (null: none has). An error when a bound has no value or lies outside.
Result<std::vector<SliceBounds>> slice_bounds(const Op& op, std::span<const std::int64_t> extents,
                                              const DimBindings* dims);

}  // namespace mir

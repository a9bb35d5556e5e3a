// Elements that SliceOp selects.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "mir/type.hpp"

namespace mir {

/// `length` indices from `start` on, `step` apart; all inside the extent.
struct SliceBounds {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t length = 0;
};

/// Returns the bounds that attribute `indices` selects of dimension `dim`, of this extent, of a
/// value of `rank` dimensions. Symbols in it have their values in `dims` (none if null). An error
/// if the attribute has another number of entries, or a bound has no value or is out of range.
Result<SliceBounds> slice_bounds(const Op& op, std::size_t rank, std::size_t dim,
                                 std::int64_t extent, const DimBindings* dims);

}  // namespace mir

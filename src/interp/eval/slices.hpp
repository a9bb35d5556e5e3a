// Parts of tensors as strided views.
#pragma once

#include <cstdint>

#include "call.hpp"

namespace mir::eval {

/// `length` indices from `start` on, `step` apart; all inside the extent.
struct SliceBounds {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t length = 0;
};

/// What one entry of SliceOp's `indices` selects of a dimension: `all`, or a dictionary of start,
/// end and step in which symbols were replaced. Negative bounds count from the end; start -1 with
/// end 0 is the last element.
Result<SliceBounds> slice_bounds(const Attr& entry, std::int64_t extent, IRContext& context);

/// The selected part of dimension `dim` of `view`.
ref::View sliced(EvalCall& call, const ref::View& view, std::size_t dim, const SliceBounds& bounds);

/// The part of `view` that attribute `indices` selects; all of it without the attribute.
Result<ref::View> sliced(EvalCall& call, const ref::View& view);

/// `shape` with another extent in dimension `dim`.
Shape with_extent(Shape shape, std::size_t dim, std::int64_t extent);

}  // namespace mir::eval

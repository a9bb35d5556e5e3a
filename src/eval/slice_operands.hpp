// Parts of tensors as strided views.
#pragma once

#include <cstdint>

#include "eval/call.hpp"
#include "eval/slices.hpp"

namespace mir::eval {

/// Returns the bounds that one entry of SliceOp's `indices` selects of a dimension: `all`, or a
/// dictionary of start, end and step in which symbols were replaced. Negative bounds count from the
/// end; start -1 with end 0 is the last element.
Result<SliceBounds> slice_bounds(const Attr& entry, std::int64_t extent, IRContext& context,
                                 const DimBindings* dims = nullptr);

/// The selected part of dimension `dim` of `view`.
ref::View sliced(EvalCall& call, const ref::View& view, std::size_t dim, const SliceBounds& bounds);

/// The part of `view` that attribute `indices` selects; all of it without the attribute.
Result<ref::View> sliced(EvalCall& call, const ref::View& view);

/// `shape` with another extent in dimension `dim`.
Shape with_extent(Shape shape, std::size_t dim, std::int64_t extent);

}  // namespace mir::eval

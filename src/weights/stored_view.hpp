// Selects and reorders rows of stored tensors.
#pragma once

#include "mir/weights.hpp"

namespace mir {

/// Extents of the part of a stored tensor that the view of a weight with the extents `wanted`
/// selects; those of the whole tensor if the view selects no rows, and if it does not fit.
Shape viewed_shape(const Shape& stored, DType dtype, const StoredView& view, const Shape& wanted);

/// Returns the rows of a view, in the order of the file, with the extents `wanted`. They borrow the
/// bytes of `stored`. An error if the view does not fit the tensor.
Result<Tensor> viewed_rows(const Tensor& stored, const StoredView::Rows& rows, const Shape& wanted);

/// Returns a copy in which the two halves of each of `heads` heads are no longer interleaved: row
/// 2i + c of a head of D rows becomes row c D / 2 + i. An error if the first extent is not a
/// multiple of 2 `heads`, or if rows are not whole storage units.
Result<Tensor> without_interleaving(const Tensor& stored, std::int64_t heads);

}  // namespace mir

// Orders along one dimension. Floating types, (U)Int8 to (U)Int64.
//
// Elements are ordered by value: -0 equals +0, a NaN is above every number and equals any other
// NaN. Equal elements keep their order, in ascending and in descending sorts. All results are
// exact; indices are Int32, which holds extents up to 2^31.
#pragma once

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// The indices that sort x along `axis` (negative: from the end); equal extents.
Result<void> argsort(const View& x, std::int64_t axis, bool descending, const MutableView& indices);

struct TopKOptions {
  bool largest = true;  ///< the largest, or the smallest
  bool sorted = true;   ///< in the order of the sort, or of the index
};

/// The first elements along `axis` of x in descending (`largest`) or ascending order, with all
/// bits, and their indices. Both results have x's extents except along the axis, where they have k,
/// at most x's extent; of equal elements at the cut those of lower index are taken.
Result<void> top_k(const View& x, std::int64_t axis, const TopKOptions& options,
                   const MutableView& values, const MutableView& indices);

}  // namespace mir::ref

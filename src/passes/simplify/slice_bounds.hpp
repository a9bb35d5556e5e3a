// One spelling for bounds of slices.
#pragma once

#include "eval/slices.hpp"
#include "mir/context.hpp"
#include "mir/rewrite_patterns.hpp"

namespace mir {

/// Writes the bounds of a SliceOp that has others in the shortest way: no start of 0, no end that
/// is the extent, no step of 1, and numbers from 0 on where the extent is known.
RewritePattern shortest_slice_bounds();

/// Returns the shortest entry of `indices` that selects these elements of a dimension of this
/// extent.
const Attr* slice_entry(IRContext& context, const SliceBounds& bounds, std::int64_t extent);

}  // namespace mir

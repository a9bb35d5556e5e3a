// One spelling for bounds of slices.
#pragma once

#include "mir/rewrite_patterns.hpp"

namespace mir {

/// Writes the bounds of a SliceOp that has others in the shortest way: no start of 0, no end that
/// is the extent, no step of 1, and numbers from 0 on where the extent is known.
RewritePattern shortest_slice_bounds();

}  // namespace mir

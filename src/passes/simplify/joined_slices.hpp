// Slices of what was joined, and parts that are joined again.
#pragma once

#include "mir/rewrite_patterns.hpp"

namespace mir {

/// A SliceOp that takes elements of one operand of a ConcatOp only slices that operand, or is it.
RewritePattern slice_of_concat();

/// A ConcatOp of slices that are all of one value, one after the other, is that value.
RewritePattern concat_of_slices();

}  // namespace mir

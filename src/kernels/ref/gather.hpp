// Rows picked by index. Elements are moved, never changed: table and out have one type with one
// element per storage unit. All indices are checked before anything is written; one that is out of
// range is an error that names its position and value.
#pragma once

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// out[i.., :] = weight[ids[i..], :]. ids Int32 or Int64 of any rank, each in [0, V); weight [V,
/// H]; out has the extents of ids followed by H.
Result<void> embedding(const View& ids, const View& weight, const MutableView& out);

/// Take along `axis` (negative: from the end): out has table's extents with the axis replaced by
/// the extents of indices. Int32, Int64 or Float32 (truncated toward zero); -n .. -1 count from the
/// end.
Result<void> gather(const View& table, const View& indices, std::int64_t axis,
                    const MutableView& out);

/// Returns the number of true elements of a condition of type Bool or UInt8. A UInt8 is true if it
/// is not 0.
std::int64_t count_true(const View& condition);

/// The slices of x along `axis` (negative: from the end) for which the mask is true, in their
/// order. The mask is a condition of one dimension, that of x; out has as many slices as it is
/// true.
Result<void> compress(const View& x, const View& mask, std::int64_t axis, const MutableView& out);

}  // namespace mir::ref

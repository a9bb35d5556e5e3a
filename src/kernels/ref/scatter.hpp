// Writes of values to the elements that indices select.
#pragma once

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// Combination of a value with the element that it is written to.
enum class ScatterReduction : std::uint8_t {
  kNone,  ///< replaces it; of several the last one in row-major order counts
  kAdd,
  kMul,
  kMax,  ///< a NaN wins; -0 is below +0
  kMin,
};

/// out = x, except that for each index i.. of `indices` the element at i.., with indices[i..] in
/// dimension `axis`, meets source[i..]. x and out have equal extents; indices (Int32, Int64) and
/// source have equal ones, of x's rank and in other dimensions than the axis no larger than x's. -n
/// .. -1 count from the end; an index out of range is an error that names its position, before
/// anything is written.
///
/// x, source and out have one type: for kNone any with one element per storage unit, whose bits
/// are kept, else floating types, (U)Int8 to (U)Int64. An element that is met
/// is reduced in double, in row-major order of the indices, and rounded once; integers wrap.
/// For n values |error| <= n 2^-53 sum |values| (kAdd) or n 2^-53 |result| (kMul) + 0.5 ULP; kMax
/// and kMin are exact. out overlaps no input.
Result<void> scatter(const View& x, const View& indices, const View& source, std::int64_t axis,
                     ScatterReduction reduction, const MutableView& out);

}  // namespace mir::ref

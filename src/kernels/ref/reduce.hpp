// Reductions over one dimension or all. Floating types, (U)Int8 to (U)Int64;
// one type for input and output.
//
// `axis` (negative: from the end) is the dimension to reduce; none reduces all. out has x's extents
// with the reduced dimensions dropped or 1; over all dimensions, any view of one element will do.
// Elements are visited in row-major order.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// Largest and smallest element; a NaN among them gives NaN; -0 is below +0. Exact. Reducing no
/// elements at all is an error unless out is empty too.
Result<void> reduce_max(const View& x, std::optional<std::int64_t> axis, const MutableView& out);
Result<void> reduce_min(const View& x, std::optional<std::int64_t> axis, const MutableView& out);

/// Floating: summed in double from +0 in index order, rounded once on store; against the exact sum
/// of n elements |error| <= n 2^-53 sum|x| + 0.5 ULP. Integers wrap. The sum of nothing is +0.
Result<void> reduce_sum(const View& x, std::optional<std::int64_t> axis, const MutableView& out);

struct CumSum {
  std::int64_t axis = 0;   ///< negative: from the end
  bool exclusive = false;  ///< without the element itself
  bool reverse = false;    ///< from the last element on
};
/// out[i] = x[0] + .. + x[i] along the axis, with the meaning and bound of reduce_sum() for each
/// sum: added one by one in double from +0, each rounded once when it is stored. x and out have one
/// element type and equal extents. May run in place.
Result<void> cum_sum(const View& x, const CumSum& how, const MutableView& out);

/// The sum, divided by the count before the one rounding. Integers: the sum modulo 2^64, divided
/// toward zero. The mean of nothing is NaN, of no integers 0.
Result<void> mean(const View& x, std::optional<std::int64_t> axis, const MutableView& out);

}  // namespace mir::ref

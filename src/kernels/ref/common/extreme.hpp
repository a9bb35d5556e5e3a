// The order in which largest and smallest elements are chosen.
#pragma once

#include <type_traits>

#include "kernels/ref/common/numbers_c.hpp"

namespace mir::ref {

/// The larger (sign +1) or smaller (-1) of two elements: a NaN wins, -0 is below +0; of equal ones
/// the first.
template <int kSign, class W>
W extreme_of(W best, W v) {
  if constexpr (std::is_same_v<W, double>) {
    return kSign > 0 ? c::mir_max(best, v) : c::mir_min(best, v);
  } else {
    static_assert(std::is_integral_v<W>);
    return (kSign > 0 ? v > best : v < best) ? v : best;
  }
}

}  // namespace mir::ref

// The order in which largest and smallest elements are chosen.
#pragma once

#include <cmath>

#include "kernels/ref/numeric.hpp"

namespace mir::ref {

/// The larger (sign +1) or smaller (-1) of two elements: a NaN wins, -0 is below +0; of equal ones
/// the first.
template <int kSign, class W>
W extreme_of(W best, W v) {
  const auto negative = [](W w) { return std::signbit(static_cast<double>(w)); };
  if (v != v) return v;
  if (v == best) return v == 0 && (kSign > 0 ? negative(best) : negative(v)) ? v : best;
  return (kSign > 0 ? v > best : v < best) ? v : best;
}

}  // namespace mir::ref

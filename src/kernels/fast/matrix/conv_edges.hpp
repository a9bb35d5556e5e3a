// Results of convolutions next to the edges, where weights are not finite.
#pragma once

#include <cstdint>

#include "kernels/fast/matrix/product.hpp"

namespace mir::fast {

/// Sums anew the results of `channel` of `image` (both counted through groups) that taps beyond the
/// edges have a part in, without these taps; nothing when the channel's weights are finite. conv()
/// multiplies such taps as zeros, and 0 times an infinity is NaN. Sums are in double, row-major.
void sum_edges(const ConvOperands& operands, std::int64_t image, std::int64_t channel);

}  // namespace mir::fast

// Softmax and the causal mask. Floating types; one type for input and output;
// equal extents; may run in place.
#pragma once

#include <optional>

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// out_i = e^(x_i - m) / sum_j e^(x_j - m) along `axis` (negative: from the end), m = max_j x_j.
/// All in double, the sum in index order, one rounding on store: at most 0.501 ULP for stored types
/// of at most 24 bits. -inf gives +0. A row with a NaN or +inf, and a row of -inf only, is all NaN.
Result<void> softmax(const View& x, std::int64_t axis, const MutableView& out);

/// Scores [.., S, D] of S queries against D keys. Query r is at the position of key p = r + D - S
/// and keeps keys 0 .. p, with a window of w only max(0, p - w + 1) .. p; all others are
/// overwritten with -1e10 (Float16: -65500), rounded to the element type. S = 1 copies everything,
/// unless there is a window and `masks_one_query` is true. Kept elements keep all bits. Rank at
/// least 2; a window of less than 1 is refused.
///
/// With `positions` [B, S], in row-major order, the scores are [B, .., S, D], and p of query r of
/// sequence b is its element, 0 if that is negative. Then S = 1 masks the keys after p, too.
Result<void> causal_mask(const View& scores, std::optional<std::int64_t> window,
                         bool masks_one_query, const MutableView& out,
                         std::span<const std::int64_t> positions = {});

}  // namespace mir::ref

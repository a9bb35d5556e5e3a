// Rotary position embedding, half-rotated pairing.
#pragma once

#include "kernels/ref/view.hpp"

namespace mir::ref {

enum class RopeLayout : std::uint8_t { kBHSD, kBSHD };

struct RopeOptions {
  RopeLayout layout = RopeLayout::kBHSD;
  std::int64_t partial_dim = -1;  ///< number of leading dims of D that rotate; -1: all
};

/// With h = rotated dims / 2 and the table row of position (b, s):
///   out[d]     = x[d] cos[d] - x[d + h] sin[d]
///   out[d + h] = x[d] sin[d] + x[d + h] cos[d]     for 0 <= d < h,   out[d] = x[d] for d >= 2h.
/// x and out are rank 4 of equal extents in the stated layout. Tables are [S, T] or [B or 1, S, T]
/// with T >= h; only the first h columns are read, so tables of width D with repeated halves (RoPE,
/// MultimodalRoPE) and of width D / 2 (VisionRoPE, layout kBSHD) both work. The rotated dims are
/// even, in [0, D]. Floating types; x and out of one type, tables of their
/// own. Products and sums in double, one rounding on store: at most 0.5 ULP plus 2^-52 (|x[d]| +
/// |x[d + h]|) for tables within [-1, 1]. May run in place.
Result<void> rope(const View& x, const View& sin, const View& cos, const RopeOptions& options,
                  const MutableView& out);

}  // namespace mir::ref

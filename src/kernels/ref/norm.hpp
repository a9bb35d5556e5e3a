// Normalisations.
//
// x, weight, bias and out are of floating types, each of its own. All
// steps are in double, sums in row-major order; one rounding on store. For stored types of at most
// 24 bits the error against a float64 evaluation is at most 0.501 ULP (layer_norm: plus
// n 2^-52 max|x| |weight| / sqrt(var + eps), from the rounding of the mean). A NaN or an infinity
// in a row makes the row NaN (rms_norm: finite elements of a row with an infinity become zero). May
// run in place.
#pragma once

#include "kernels/ref/view.hpp"

namespace mir::ref {

struct RmsNormOptions {
  double epsilon = 0;
  bool add_unit_offset = false;  ///< weights are stored minus one
};

/// y = x w / sqrt(mean(x^2) + epsilon) over the last dimension, w = weight or weight + 1.
/// x of rank at least 1, weight [D] or null (all ones; the offset is then not added).
Result<void> rms_norm(const View& x, const View* weight, const RmsNormOptions& options,
                      const MutableView& out);

struct LayerNormOptions {
  double epsilon = 0;
  std::int64_t normalised_dims = 1;  ///< trailing dimensions that form one row, in [0, rank]
};

/// y = (x - mean) / sqrt(var + epsilon) * weight + bias over the trailing dimensions, var biased
/// and computed from the centred values. weight and bias have the trailing extents or are null.
Result<void> layer_norm(const View& x, const View* weight, const View* bias,
                        const LayerNormOptions& options, const MutableView& out);

}  // namespace mir::ref

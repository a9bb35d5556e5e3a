// Convolutions, and resampling to other extents.
//
// Operands are of floating types, each of its own.
#pragma once

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// One entry per spatial dimension.
struct ConvOptions {
  Dims stride;              ///< 1 or more
  Dims padding;             ///< zeros on both sides, 0 or more
  Dims dilation;            ///< distance of taps, 1 or more
  std::int64_t groups = 1;  ///< divides the channels on both sides
};

/// out[b, o, p..] = sum_i,k.. x[b, g I + i, p stride + k dilation - padding ..] weight[o, i, k..]
/// + bias[o], I the channels of a group and g the group of o: a cross-correlation. x is [B, groups
/// I, n..], weight [O, I, kernel..], bias [O] or null, out [B, O, floor((n + 2 padding - dilation
/// (kernel - 1) - 1) / stride) + 1 ..]; one spatial dimension or more.
///
/// Summed in double from +0 over i, then k row-major; taps beyond the edges are left out, whatever
/// their weight. The bias is added last, before the one rounding. Against a float64 evaluation
///   |error| <= (I K + 1) 2^-53 sum |x weight| + 0.5 ULP
/// with K taps and operands of at most 24 significant bits.
Result<void> conv(const View& x, const View& weight, const View* bias, const ConvOptions& options,
                  const MutableView& out);

enum class Sampling : std::uint8_t {
  kNearest,  ///< the nearest element, half away from zero
  kLinear,   ///< the two neighbours, in each dimension
  kCubic,    ///< the four neighbours by the Catmull-Rom spline (a = -0.5), in each dimension
};

struct InterpolateOptions {
  Sampling sampling = Sampling::kNearest;
  bool align_corners = false;
  bool antialias = false;
};

/// x [N, C, n..] resampled to out [N, C, m..]. Index o reads coordinate o (n - 1) / (m - 1) with
/// align_corners and else (o + 0.5) n / m - 0.5; m = 1 reads 0 and -0.5. Neighbours outside of x
/// are the element at the edge. Coordinates are exact: a quotient of integers.
///
/// With `antialias` x is first blurred along each dimension, the last one first, if the largest
/// distance s of two coordinates, n / m or (n - 1) / (m - 1), exceeds 1: by the weights
/// e^(-i^2 / (2 sigma^2)) for |i| <= max(1, ceil(3 sigma)), sigma = 0.5 s, divided by their sum.
///
/// Nearest is exact. Else |error| <= 2^-48 max|x| + 0.5 ULP; a tap of weight 0 is left out, so an
/// infinity does not reach results that do not depend on it. Extents are below 2^30.
Result<void> interpolate(const View& x, const InterpolateOptions& options, const MutableView& out);

}  // namespace mir::ref

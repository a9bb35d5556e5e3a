// Integer codes and the real numbers that they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// real = scale * (code - zero point), scale and zero point being those of the element's group.
/// Groups are runs of `block` elements of one channel, in row-major order; channels are the indices
/// of dimension `axis`. Group numbers go through the blocks of channel 0, then of channel 1, ...
struct Quantisation {
  std::optional<std::size_t> axis = {};  ///< none: one channel
  std::int64_t block = 0;                ///< 1 or more; 0: a channel is one group
  std::int64_t low = 0, high = 0;        ///< the codes that quantise() gives, 32 bits at most
  /// Codes are that many low bits of the stored integer, signed when `low` is negative; 0: all.
  int code_bits = 0;
  std::vector<double> scales = {};             ///< one for each group, finite and above 0
  std::vector<std::int64_t> zero_points = {};  ///< one for each group; none: all 0

  friend bool operator==(const Quantisation&, const Quantisation&) = default;
};

/// Returns the number of groups of a tensor of these extents. An error if the axis is out of range
/// or a channel is not a whole number of blocks.
Result<std::int64_t> group_count(const Quantisation& quantisation,
                                 std::span<const std::int64_t> extents);

/// `codes` is of an integer type, or of one stored as integers, `out` of a floating type and the
/// same extents. Exact in Float64 where code - zero point has at most 17 bits and the scale at most
/// 36, else rounded once in double; other types round once more.
Result<void> dequantise(const View& codes, const Quantisation& quantisation,
                        const MutableView& out);

/// code = clamp(nearest(x / scale) + zero point, low, high), the quotient in double, ties to even.
/// Infinities give the ends, a NaN the code nearest to the real number 0. `code_bits` of the result
/// hold the code, the bits above are 0.
Result<void> quantise(const View& x, const Quantisation& quantisation, const MutableView& codes);

/// Elements of an activation that are rounded together.
inline constexpr std::int64_t kActivationRun = 32;

/// Rounds activations as products with block weights do: each run of 32 elements of a row (the last
/// one may be shorter) becomes codes of 8 bits times one scale. With x in Float32,
///   d = max|x| / 127 in Float32
///   code = clamp(nearest(x / d), -127, 127), the quotient in Float32, ties to even; 0 if d = 0
///   out = d code,
/// which Float64 holds exactly. A run with a NaN or an infinity is NaN. `x` and `out` are of
/// floating types and have the same extents.
Result<void> round_activations(const View& x, const MutableView& out);

}  // namespace mir::ref

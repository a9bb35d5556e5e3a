// Reductions and softmax of Float32 over one dimension, or over several that lie side by side.
#pragma once

#include <cstdint>

#include "kernels/fast/context.hpp"

namespace mir::fast {

enum class Reduction : std::uint8_t { kSum, kMean, kMax, kMin };

/// x is [outer, length, inner] in row-major order; the dimension of `length` is reduced.
struct ReduceOperands {
  const float* x = nullptr;
  float* out = nullptr;  ///< [outer, inner]
  std::int64_t outer = 1;
  std::int64_t length = 0;
  std::int64_t inner = 1;
};

/// Sums and means are formed in double, in an order that extents and the instruction set fix, and
/// rounded once:
///   |error| <= length 2^-53 sum|x| + 0.5 ULP, for a mean divided by the length.
/// Maxima and minima are exact, with NaN and signed zeros as in ref; then length is not 0 unless
/// outer or inner is. The sum of nothing is +0, the mean NaN.
void reduce(Reduction reduction, const ReduceOperands& operands, Context& context);

enum class SumOrder : std::uint8_t { kForward, kReverse };
/// Running sums along `length` with the bits of ref::cum_sum; `exclusive` without the element
/// itself. out is like x and may be x.
void cum_sum(const ReduceOperands& operands, SumOrder order, bool exclusive, Context& context);

/// e^(x - m) / sum e^(x - m) along `length`, m its maximum; out is like x and may be x. Bound and
/// edge cases as of softmax in rows.hpp.
void softmax_along(const ReduceOperands& operands, Context& context);

}  // namespace mir::fast

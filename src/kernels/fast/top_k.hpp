// The largest or smallest elements along a dimension.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fast/context.hpp"
#include "mir/tensor.hpp"

namespace mir::fast {

/// True if top_k takes elements of this type: Float32, BFloat16, Float16 and integers of at most 32
/// bits.
bool has_top_k(DType dtype);

/// x and the results are row-major: [outer, length, inner], and [outer, k, inner].
struct TopKOperands {
  const std::byte* x = nullptr;
  DType dtype = DType::kFloat32;
  std::int64_t outer = 1, length = 0, inner = 1;
  std::int64_t k = 0;   ///< at most length
  bool largest = true;  ///< or the smallest
  bool sorted = true;   ///< in that order, or in the order of the indices
  std::byte* values = nullptr;
  std::int32_t* indices = nullptr;
};

/// The k elements with all their bits, and their indices. The order is that of ref::top_k: -0
/// equals 0, NaN is above every number, of equal elements the one of lower index comes first.
void top_k(const TopKOperands& operands, Context& context);

}  // namespace mir::fast

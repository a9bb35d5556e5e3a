// Elements from one place to another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/fast/context.hpp"

namespace mir::fast {

/// Two views of equal extents. Strides count elements; those of `from` may be 0
/// or less.
struct CopyOperands {
  static constexpr std::size_t kMaxRank = 9;

  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t element_bytes = 0;  ///< 1, 2, 4, 8 or 16
  std::size_t rank = 0;
  std::array<std::int64_t, kMaxRank> extents = {};
  std::array<std::int64_t, kMaxRank> from_strides = {};
  std::array<std::int64_t, kMaxRank> to_strides = {};
};

/// to[i] = from[i]: all bits. The views do not overlap.
void copy(const CopyOperands& operands, Context& context);

}  // namespace mir::fast

// Layout of operands that a kernel broadcasts to its result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mir::fast {

/// An operand of a kernel that broadcasts: elements and how far apart they lie in each dimension of
/// the result, 0 where one serves all.
struct BroadcastOperand {
  static constexpr std::size_t kMaxRank = 8;

  const std::byte* data = nullptr;
  /// In elements; 0 or 1 in the last dimension that is not 1 long.
  std::array<std::int64_t, kMaxRank> strides = {};
};

/// A result in row-major order.
struct BroadcastResult {
  std::byte* data = nullptr;
  std::size_t rank = 0;
  std::array<std::int64_t, BroadcastOperand::kMaxRank> extents = {};
};

}  // namespace mir::fast

// Elementwise kernels between element types: choices, comparisons, conversions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mir/kernels/fast/context.hpp"
#include "mir/support/dtype.hpp"

namespace mir::fast {

/// An operand of a kernel that broadcasts: elements and how far apart they lie in each dimension of
/// the result, 0 where one serves all.
struct BroadcastOperand {
  static constexpr std::size_t kMaxRank = 8;

  const std::byte* data = nullptr;
  std::array<std::int64_t, kMaxRank> strides = {};  ///< in elements; of the last dimension 0 or 1
};

/// A result in row-major order.
struct BroadcastResult {
  std::byte* data = nullptr;
  std::size_t rank = 0;
  std::array<std::int64_t, BroadcastOperand::kMaxRank> extents = {};
};

/// out = condition != 0 ? a : b, all bits; elements of 1, 2, 4, 8 or 16 bytes, conditions of one.
void select(std::size_t element_bytes, const BroadcastOperand& condition, const BroadcastOperand& a,
            const BroadcastOperand& b, const BroadcastResult& out, Context& context);

/// Whether equal() takes elements of this type: Float32, Int32, Int64.
bool is_comparable(DType dtype);
/// out = a == b as bytes 0 and 1. NaN equals nothing, -0 equals +0.
void equal(DType dtype, const BroadcastOperand& a, const BroadcastOperand& b,
           const BroadcastResult& out, Context& context);

/// Elements of one type as another, with the bits of ref::cast: both of a floating, integer or Bool
/// type. `from` and `to` have `count` elements and do not overlap.
void cast(DType from_type, const std::byte* from, DType to_type, std::byte* to, std::int64_t count,
          Context& context);

}  // namespace mir::fast

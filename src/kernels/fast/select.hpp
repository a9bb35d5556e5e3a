// Elementwise kernels between element types: choices, conversions, positions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fast/broadcast.hpp"
#include "kernels/fast/context.hpp"
#include "kernels/ref/movement.hpp"
#include "mir/tensor.hpp"

namespace mir::fast {

/// out = condition != 0 ? a : b, all bits; elements of 1, 2, 4, 8 or 16 bytes, conditions of one.
void select(std::size_t element_bytes, const BroadcastOperand& condition, const BroadcastOperand& a,
            const BroadcastOperand& b, const BroadcastResult& out, Context& context);

/// Elements of one type as another, with the bits of ref::cast, and an error for the types that
/// it does not take. `from` and `to` have `count` elements and do not overlap.
Result<void> cast(DType from_type, const std::byte* from, DType to_type, std::byte* to,
                  std::int64_t count, Context& context);

/// A result in row-major order, one dimension of which counts.
struct IotaResult {
  DType dtype{};
  std::byte* data = nullptr;
  std::int64_t outer = 1, length = 1, inner = 1;  ///< extents before the dimension, its own, after
};
/// Element i of each `length` is number i of the sequence, with the bits of ref::sequence_element.
Result<void> iota(const IotaResult& out, const ref::Sequence& sequence, Context& context);

}  // namespace mir::fast

// Operands as kernels take them that broadcast.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "kernels/fast/broadcast.hpp"
#include "plan/frame.hpp"

namespace mir {

inline constexpr char kNoBroadcast[] = "operands do not broadcast to the result";

/// True if all operands broadcast to the result's extents.
inline bool all_broadcast(std::initializer_list<const TensorRef*> operands, const TensorRef& out) {
  return std::ranges::all_of(operands, [&](const TensorRef* from) {
    if (from->rank > out.rank) return false;
    for (int i = 1; i <= from->rank; ++i) {
      if (from->extent(i) != 1 && from->extent(i) != out.extent(i)) return false;
    }
    return true;
  });
}

/// Row-major elements against those of a result that they broadcast to.
inline fast::BroadcastOperand broadcast(const TensorRef& from, const TensorRef& out) {
  fast::BroadcastOperand operand{.data = from.data};
  std::int64_t step = 1;
  for (int i = 1; i <= from.rank; ++i) {
    const std::int64_t extent = from.extent(i);
    operand.strides[static_cast<std::size_t>(out.rank - i)] = extent == 1 ? 0 : step;
    step *= extent;
  }
  return operand;
}

inline fast::BroadcastResult result_of(const TensorRef& out) {
  fast::BroadcastResult result{.data = out.data, .rank = out.rank};
  std::ranges::copy(out.shape(), result.extents.begin());
  return result;
}

}  // namespace mir

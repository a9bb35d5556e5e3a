// Arrays as operands of kernels that broadcast.
#pragma once

#include <algorithm>
#include <cstddef>

#include "array.hpp"
#include "kernels/fast/broadcast.hpp"

namespace mir::fast::test {

/// Of the same rank as `out`; extents that are 1 repeat.
inline BroadcastOperand broadcast(const ref::test::Array& array, const ref::Dims& out) {
  BroadcastOperand operand{.data = static_cast<const std::byte*>(array.view().data)};
  for (std::size_t i = 0; i < out.size(); ++i) {
    operand.strides[i] = array.extents()[i] == 1 ? 0 : array.view().strides[i];
  }
  return operand;
}

inline BroadcastResult result(std::byte* data, const ref::Dims& extents) {
  BroadcastResult out{.data = data, .rank = extents.size()};
  std::ranges::copy(extents, out.extents.begin());
  return out;
}

}  // namespace mir::fast::test

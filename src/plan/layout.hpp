// Memory layout of the values of a plan.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "plan/frame.hpp"

namespace mir {

/// A value without gaps, its dimensions in memory in the order that it states; extent_of(i) is the
/// extent of dimension i. The address is the caller's to set.
template <class ExtentOf>
TensorRef lay_out(const PlanValue& value, ExtentOf extent_of) {
  TensorRef tensor{.dtype = value.dtype, .rank = value.rank};
  std::array<std::int64_t, TensorRef::kMaxRank> in_memory = {}, steps = {};
  for (std::uint8_t i = 0; i < value.rank; ++i) {
    tensor.extents[i] = extent_of(i);
    in_memory[value.memory[i]] = tensor.extents[i];
  }
  std::int64_t step = 1;
  for (std::size_t i = value.rank; i-- > 0;) {
    steps[i] = step;
    step *= in_memory[i];
  }
  for (std::uint8_t i = 0; i < value.rank; ++i) tensor.strides[i] = steps[value.memory[i]];
  return tensor;
}

/// Returns the bytes of a value without gaps; no value if they are more than tensors have.
inline std::optional<std::uint64_t> bytes_of(const TensorRef& tensor) {
  std::uint64_t elements = 1;
  for (const std::int64_t extent : tensor.shape()) {
    if (extent < 0 ||
        __builtin_mul_overflow(elements, static_cast<std::uint64_t>(extent), &elements)) {
      return std::nullopt;
    }
  }
  const auto bytes = storage_bytes(tensor.dtype, elements);
  return bytes && *bytes <= Tensor::kMaxBytes ? bytes : std::nullopt;
}

}  // namespace mir

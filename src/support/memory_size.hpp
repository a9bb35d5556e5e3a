// Numbers of bytes as sizes of memory, also where addresses have 32 bits.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace mir {

/// Returns the number as a size of memory. A number that `Size` cannot hold becomes the largest
/// size, so that an allocation fails and does not return too little. Numbers that an object in
/// memory bounds, such as checked offsets, keep their value.
template <std::unsigned_integral Size = std::size_t>
constexpr Size memory_size(std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::numeric_limits<Size>::max();
  return static_cast<Size>(bytes < kMost ? bytes : kMost);
}

}  // namespace mir

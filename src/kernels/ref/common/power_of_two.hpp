// Powers of two from their bits.
#pragma once

#include <bit>
#include <cstdint>

namespace mir::ref {

/// 2^k for k in [-1022, 1023].
inline double power_of_two(int k) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

}  // namespace mir::ref

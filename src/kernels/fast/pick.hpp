// Elements at the crossings of lists of places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/fast/context.hpp"

namespace mir::fast {

/// Copies, for every combination of offsets o_d, one of each list, `run_bytes` neighbours at from +
/// o_1 + .. + o_n into `to`, one run after the other; the last list varies fastest. Offsets count
/// bytes.
struct PickOperands {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t run_bytes = 0;                               ///< not 0
  std::span<const std::span<const std::int64_t>> offsets;  ///< at least one list
};

/// All bits are kept. `to` overlaps nothing of `from`.
void pick(const PickOperands& operands, Context& context);

}  // namespace mir::fast

// Elements at the crossings of lists of places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/fast/context.hpp"

namespace mir::fast {

/// What lies at from + o_1 + .. + o_n for one offset o_d of each list, the last list running
/// fastest: runs of `run_bytes` neighbours, one after the other into `to`. Offsets count bytes.
struct PickOperands {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t run_bytes = 0;                               ///< not 0
  std::span<const std::span<const std::int64_t>> offsets;  ///< at least one list
};

/// All bits are kept. `to` overlaps nothing of `from`.
void pick(const PickOperands& operands, Context& context);

}  // namespace mir::fast

// Random numbers by a counter.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// The four words of Philox4x32 with 10 rounds for a counter and a key, low words first (Salmon,
/// Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3, 2011).
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

/// Element i of out, in row-major order, is (w >> 8) 2^-24 with w word i % 4 of philox() for the
/// key state[0] and the counter state[1] + i / 4 modulo 2^64. next is the key and the first
/// counter that out does not use. States are Int64 [2]; out is Float32.
Result<void> random_uniform(const View& state, const MutableView& out, const MutableView& next);

}  // namespace mir::ref

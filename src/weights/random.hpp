// Reproducible tensors from a seed and a name. The formulas are those of docs/weights.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// Philox-4x32 with ten rounds (Salmon, Moraes, Dror and Shaw, SC'11).
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

/// Names one stream of 32-bit words: word i is lane i % 4 of philox((i / 4, 0), key).
struct RandomStream {
  RandomStream(std::uint64_t seed, std::string_view name);  ///< key = XXH64(name, seed)
  std::uint64_t key;
};

/// `centre + half_width * u` with u = word / 2^31 - 1, uniform on [-1, 1).
struct Interval {
  double centre = 0;
  double half_width = 1;
};

/// Returns the interval that a weight of this name and shape is drawn from. The rules are in
/// docs/weights.md.
Interval weight_interval(std::string_view name, std::span<const std::int64_t> shape);

/// Computed in double, rounded once to `dtype`, which must be a float type.
Result<Tensor> random_reals(RandomStream stream, DType dtype, Shape shape, Interval interval);

/// Integers uniform on [0, bound): (word * bound) / 2^32, rounded down. `bound` lies in [1, 2^32]
/// and bound - 1 is representable in `dtype`, an integer type or one stored as integers.
Result<Tensor> random_integers(RandomStream stream, DType dtype, Shape shape, std::int64_t bound);

/// True for the block types that random_blocks() takes: those of dequantise() except Q8_0 and
/// Q4_0, which quantise() makes of numbers.
bool is_random_block(DType dtype);

/// Blocks of random codes that mean numbers in [-end, end] around 0, up to the rounding of
/// scales, with end = |centre| + half_width: byte i is integer i below 256, except in scales, which
/// are the same in each block. `shape` must fit: see check_blocks_fit in weights/blocks.hpp.
Result<Tensor> random_blocks(RandomStream stream, DType dtype, Shape shape, Interval interval);

}  // namespace mir

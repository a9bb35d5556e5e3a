// Places for values in one block of memory.
#pragma once

#include <cstdint>
#include <span>

namespace mir {

/// A value that is alive from node `first` to node `last`, both included.
struct Lifetime {
  std::uint64_t size = 0;  ///< bytes
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint64_t offset = 0;  ///< set by place()
};

/// Gives each value an offset, a multiple of 64, such that values alive at one node do not overlap;
/// the size of the block. Largest values first, each at the lowest place that is free for its whole
/// life: near the lower bound for the graphs of models.
std::uint64_t place(std::span<Lifetime> values);

/// The most bytes that are alive at one node: no placement needs less.
std::uint64_t most_alive(std::span<const Lifetime> values);

}  // namespace mir

// Repeated parts of a sequence of tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mir {

/// Equal parts of a sequence: `starts` are ascending and further apart than `length`.
struct Repeat {
  std::size_t length = 0;
  std::vector<std::size_t> starts{};

  /// How many tokens the parts cover.
  std::size_t covered() const { return length * starts.size(); }
};

/// Returns parts of at least `least` tokens that occur at least twice, those that cover most tokens
/// first, of equal ones the shorter and then the earlier. The parts of one repeat do not overlap;
/// those of different repeats may. A token of 0 is in no part. Parts that repeat within a repeat
/// are left out. `least` must not be 0.
std::vector<Repeat> find_repeats(std::span<const std::uint32_t> tokens, std::size_t least);

}  // namespace mir

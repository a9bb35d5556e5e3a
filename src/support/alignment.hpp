// Alignment of two sequences: pairs of elements that correspond.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mir {

/// Indices of a pair of equal elements.
struct AlignedPair {
  std::ptrdiff_t before;
  std::ptrdiff_t after;
};

/// A common subsequence of two sequences, in order: the longest where they differ in a few hundred
/// elements, else a long one. Time is proportional to their lengths even if every element differs.
/// Elements that only one sequence has are left out of the search.
std::vector<AlignedPair> align(std::span<const std::uint32_t> before,
                               std::span<const std::uint32_t> after);

}  // namespace mir

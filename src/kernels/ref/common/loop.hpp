// The loop nests of this folder: every index of a shape in row-major order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mir::ref {

/// Element offsets of one index in N views.
template <std::size_t N>
using Offsets = std::array<std::int64_t, N>;
template <std::size_t N>
using StrideSets = std::array<std::span<const std::int64_t>, N>;

/// Calls body(offsets) once per index of `extents`, the last dimension fastest; offsets[i] is the
/// position by strides[i]. Rank 0 has one index. Recursion is as deep as the rank.
template <std::size_t N, class Body>
void for_each_offset(std::span<const std::int64_t> extents, const StrideSets<N>& strides,
                     Body&& body, std::size_t dim = 0, Offsets<N> offsets = {}) {
  if (dim == extents.size()) {
    body(offsets);
    return;
  }
  Offsets<N> step;
  for (std::size_t n = 0; n < N; ++n) step[n] = strides[n][dim];
  const bool innermost = dim + 1 == extents.size();
  for (std::int64_t i = 0; i < extents[dim]; ++i) {
    if (innermost) {
      body(offsets);
    } else {
      for_each_offset<N>(extents, strides, body, dim + 1, offsets);
    }
    for (std::size_t n = 0; n < N; ++n) offsets[n] += step[n];
  }
}

/// Calls body(index) once per index of `extents`, the last dimension fastest.
template <class Body>
void for_each_index(std::span<const std::int64_t> extents, Body&& body) {
  if (std::ranges::find(extents, 0) != extents.end()) return;
  std::vector<std::int64_t> index(extents.size(), 0);
  for (std::size_t dim = 1; dim != 0;) {
    body(std::span<const std::int64_t>(index));
    // Counts up; at the end dim is 0.
    for (dim = index.size(); dim != 0 && ++index[dim - 1] == extents[dim - 1]; --dim) {
      index[dim - 1] = 0;
    }
  }
}

}  // namespace mir::ref

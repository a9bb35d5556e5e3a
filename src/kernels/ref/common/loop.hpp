// The loop nests of this folder: every index of a shape in row-major order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace mir::ref {

/// Element offsets of one index in N views.
template <std::size_t N>
using Offsets = std::array<std::int64_t, N>;
template <std::size_t N>
using StrideSets = std::array<std::span<const std::int64_t>, N>;

/// A row of a loop nest: `count` indices of the last dimension, whose offsets differ by `step`.
template <std::size_t N>
struct OffsetRow {
  Offsets<N> first, step;
  std::int64_t count;
};

/// Calls row(body, r) for each row r of `extents`. One function serves all bodies, which are many.
template <std::size_t N>
void for_each_row(std::span<const std::int64_t> extents, const StrideSets<N>& strides,
                  void (*row)(void* body, const OffsetRow<N>& of), void* body, std::size_t dim = 0,
                  Offsets<N> offsets = {}) {
  if (dim == extents.size()) return row(body, {.first = offsets, .step = {}, .count = 1});
  Offsets<N> step;
  for (std::size_t n = 0; n < N; ++n) step[n] = strides[n][dim];
  if (dim + 1 == extents.size()) {
    return row(body, {.first = offsets, .step = step, .count = extents[dim]});
  }
  for (std::int64_t i = 0; i < extents[dim]; ++i) {
    for_each_row<N>(extents, strides, row, body, dim + 1, offsets);
    for (std::size_t n = 0; n < N; ++n) offsets[n] += step[n];
  }
}

/// Calls body(offsets) once per index of `extents`, the last dimension fastest; offsets[i] is the
/// position by strides[i]. Rank 0 has one index. Recursion is as deep as the rank.
template <std::size_t N, class Body>
void for_each_offset(std::span<const std::int64_t> extents, const StrideSets<N>& strides,
                     Body&& body) {
  using Called = std::remove_reference_t<Body>;
  for_each_row<N>(
      extents, strides,
      [](void* called, const OffsetRow<N>& row) {
        Called& call = *static_cast<Called*>(called);
        Offsets<N> offsets = row.first;
        const Offsets<N> step = row.step;
        for (std::int64_t i = 0; i < row.count; ++i) {
          call(offsets);
          for (std::size_t n = 0; n < N; ++n) offsets[n] += step[n];
        }
      },
      const_cast<void*>(static_cast<const void*>(&body)));
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

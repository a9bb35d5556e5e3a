// Operands of reference kernels: typed memory with extents and strides, not owned.
//
// Rules that hold for every kernel of this folder:
// - Extents are non-negative, strides count elements and may be 0 (a broadcast dimension of an
//   input) or negative; `data` points at the element with index 0 in every dimension. That each
//   indexed element lies in readable, writable and suitably aligned memory is the caller's promise;
//   everything else (element types, ranks, extents, axes, indices) is checked and refused with an
//   error before the first element is written, unless a kernel says otherwise.
// - An output may be the same view as an input (same address, extents and strides) where the header
//   says "may run in place"; any other overlap gives unspecified values.
// - A kernel is a pure function of its operands: one thread, fixed evaluation order, no state.
// - *Floating types* are Float32, Float16, BFloat16, Float64, Float8E4M3 and Float8E5M2.
// - Arithmetic on floating types is done in double and rounded once, to nearest even, on store.
//   Every NaN an arithmetic kernel stores is the positive quiet NaN without payload (Float8E4M3:
//   its positive NaN); where Float8E4M3 has no infinity, its largest number is stored. Kernels that
//   only move elements keep all bits.
// - A view with an extent of 0 holds no elements; kernels on it write nothing and succeed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir::ref {

/// Extents or strides, outermost dimension first.
using Dims = std::vector<std::int64_t>;

/// More dimensions than this are refused.
inline constexpr std::size_t kMaxRank = 32;

struct View {
  DType dtype = DType::kFloat32;
  const void* data = nullptr;
  std::span<const std::int64_t> extents;
  std::span<const std::int64_t> strides;  ///< in elements, as many as extents

  std::int64_t rank() const { return static_cast<std::int64_t>(extents.size()); }
};

struct MutableView {
  DType dtype = DType::kFloat32;
  void* data = nullptr;
  std::span<const std::int64_t> extents;
  std::span<const std::int64_t> strides;  ///< in elements; non-zero where the extent exceeds 1

  std::int64_t rank() const { return static_cast<std::int64_t>(extents.size()); }
  operator View() const { return {dtype, data, extents, strides}; }
};

/// Strides of a contiguous row-major array.
Dims row_major_strides(std::span<const std::int64_t> extents);

/// Number of elements; extents are those of memory that exists, so the product fits.
std::int64_t element_count(const View& view);

/// Strides that read `view` as if it had `extents`: dimensions are right-aligned, each is equal or
/// 1 (stride 0), missing ones count as 1. Anything else is an error.
Result<Dims> broadcast_strides(const View& view, std::span<const std::int64_t> extents);

/// `axis` in [-rank, rank) as a dimension number.
Result<std::size_t> normalise_axis(std::int64_t axis, std::int64_t rank);

}  // namespace mir::ref

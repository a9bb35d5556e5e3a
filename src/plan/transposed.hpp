// Matrices with rows and columns exchanged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "mir/tensor.hpp"

namespace mir {

/// The matrix [columns, rows] of Float32 numbers that lie as [rows, columns], whatever the extents
/// of the tensor. No value if memory is short. The tensor has that many elements.
inline std::optional<Tensor> transposed(const Tensor& matrix, std::int64_t rows,
                                        std::int64_t columns) {
  constexpr std::int64_t kTile = 32;  // rows and columns that stay in the cache
  auto result = Tensor::allocate(DType::kFloat32, {columns, rows});
  if (!result) return std::nullopt;
  const float* const from = matrix.as<float>().data();
  float* const to = result->as_mutable<float>().data();
  for (std::int64_t row = 0; row < rows; row += kTile) {
    for (std::int64_t column = 0; column < columns; column += kTile) {
      for (std::int64_t i = row; i < std::min(row + kTile, rows); ++i) {
        for (std::int64_t k = column; k < std::min(column + kTile, columns); ++k) {
          to[k * rows + i] = from[i * columns + k];
        }
      }
    }
  }
  return *std::move(result);
}

}  // namespace mir

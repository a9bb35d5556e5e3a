// Types as MLIR spells them: `f32`, `2x?xf32`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mir/tensor.hpp"

namespace mir {

/// Returns the element type that MLIR spells `name`: `f32`, `bf16`, `i64`, `ui8`, `i1`.
std::optional<DType> dtype_from_mlir(std::string_view name);

/// A shape with its element type at the beginning of a text.
struct ForeignShape {
  std::string_view found;  ///< `2x?xf32`
  std::string spelling;    ///< extents and element type of a tensor type: `[2, ?], Float32`
};

/// Returns the shape with which `text` begins. No value if it does not begin with a shape.
std::optional<ForeignShape> shape_from_mlir(std::string_view text);

}  // namespace mir

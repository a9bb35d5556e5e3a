// Types as other tools spell them: `f32`, `fp16`, `2x?xf32`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mir/tensor.hpp"

namespace mir {

/// Returns the element type that MLIR, PyTorch, safetensors or C spells `name`, in any case: `f32`,
/// `ui8`, `i1`, `half`, `F8_E4M3`, `long`.
std::optional<DType> dtype_from_other_tools(std::string_view name);

/// A shape with its element type as MLIR spells them.
struct ForeignShape {
  std::string_view found;  ///< `2x?xf32`
  std::string spelling;    ///< extents and element type of a tensor type: `[2, ?], Float32`
};

/// Returns the shape with which `text` begins, also behind `memref<`, `vector<` or `tensor<`. No
/// value if it does not begin with a shape.
std::optional<ForeignShape> shape_from_mlir(std::string_view text);

}  // namespace mir

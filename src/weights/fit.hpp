// The rule that decides if a stored tensor fits a parameter, for sessions and `mllm-weights match`.
#pragma once

#include "mir/tensor.hpp"

namespace mir {

/// True if the storage types are equal, or if `wanted` is a float type and `stored` another one or
/// blocks.
bool fits_type(DType stored, DType wanted);

/// True if the extents other than 1 are equal. A file without shapes stores one dimension with all
/// elements.
bool fits_shape(const Shape& stored, const Shape& wanted);

}  // namespace mir

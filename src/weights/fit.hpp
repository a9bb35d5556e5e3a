// Whether a stored tensor serves for a parameter: the one rule of sessions and `mllm-weights
// match`.
#pragma once

#include "mir/tensor.hpp"

namespace mir {

/// The same storage type, or another float type or blocks for a float type.
bool fits_type(DType stored, DType wanted);

/// The same extents, those of 1 apart; a file without shapes stores one dimension of as many
/// elements.
bool fits_shape(const Shape& stored, const Shape& wanted);

}  // namespace mir

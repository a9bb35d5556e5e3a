// Attributes as kernels take them.
#pragma once

#include "kernels/ref/movement.hpp"
#include "mir/op_attributes.hpp"

namespace mir {

/// The numbers that `start` and `step` of an op describe.
ref::Sequence sequence_of(const OpAttributes& attributes);

}  // namespace mir

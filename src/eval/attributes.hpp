// Sequences of numbers that attributes describe.
#pragma once

#include "kernels/ref/movement.hpp"
#include "mir/op_attributes.hpp"

namespace mir {

/// Returns the numbers that `start` and `step` describe.
ref::Sequence sequence_of(const OpAttributes& attributes);

}  // namespace mir

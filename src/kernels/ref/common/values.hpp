// Blocks of floating elements as doubles, for kernels that work row by row.
#pragma once

#include <span>

#include "kernels/ref/view.hpp"

namespace mir::ref {

/// All elements of a floating view in row-major order, widened exactly; `values` has their count.
void read_values(const View& view, std::span<double> values);

/// The reverse, each rounded once to the element type.
void write_values(const MutableView& view, std::span<const double> values);

}  // namespace mir::ref

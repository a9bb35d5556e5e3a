// Generic bodies of ops that own weights: Linear, convolutions, norms.
#pragma once

#include "mir/rewrite_patterns.hpp"
#include "passes/analysis/parameter_types.hpp"

namespace mir {

/// Adds patterns whose bodies have the bits of the ops' reference kernels. The parameters must
/// outlive the set.
void add_weighted_bodies(PatternSet& set, const ParameterTypes& parameters);

}  // namespace mir

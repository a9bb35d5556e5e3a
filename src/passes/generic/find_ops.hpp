// Finds the ops of linalg whose generic bodies a graph contains.
#pragma once

#include "mir/rewrite_patterns.hpp"
#include "passes/analysis/parameter_types.hpp"

namespace mir {

/// Ops that are looked for together: compound ones come first, since simple ones would take away
/// their parts.
enum class FoundOps : std::uint8_t { kCompound, kSimple };

/// Patterns that replace generic ops by the op whose generic body they are: they build the body of
/// each op that may be meant, as decompose{to=generic} does, and compare. Ops that own weights are
/// found only if `parameters`, which must outlive the patterns, is not null.
PatternSet find_op_patterns(FoundOps which, const ParameterTypes* parameters);

}  // namespace mir

// Check that the two regions of a pattern have equal types.
#pragma once

#include "patterns/pattern.hpp"

namespace mir::patterns {

/// Infers the types of both regions for symbolic extents and all usual element types, if the
/// pattern states the types of its inputs and has no packs or conditions. Returns false after
/// reporting an element type for which the first region verifies and the second one does not, or
/// gives another type. Where it cannot tell, each match is checked before its rewrite.
bool check_types(const Pattern& pattern, IRContext& context, Diagnostics& diagnostics);

}  // namespace mir::patterns

// Scales of a value whose place another value takes.
#pragma once

#include "mir/rewriter.hpp"

namespace mir {

/// Adds what `from` states of its quantisation and `to` does not, so that `to` can take its place.
/// Both are one tensor: if `to` states a scale, this is the scale of `from`, too. Constants and
/// parameters stay as they are.
void carry_scales(Rewriter& rewriter, const Value& from, Value& to);

}  // namespace mir

// Extends a loop of a generic op to a multiple, so that tiles divide it.
#pragma once

#include <string>

#include "mir/rewriter.hpp"

namespace mir {

/// Extends the loop. Operands with the loop become copies with neutral elements after the last
/// one, and results with the loop lose the elements that are too many. Returns the reason if that
/// cannot be done, and then changes nothing.
std::string pad_loop(Rewriter& rewriter, Op& op, std::size_t loop, std::int64_t multiple);

}  // namespace mir

// Ops that only their results make needed.
#pragma once

namespace mir {

class Op;

/// True if the op can be erased without any effect once nothing uses its results: it is pure,
/// neither ends a block nor declares a symbol, and finds out no symbols.
bool is_erasable(const Op& op);

}  // namespace mir

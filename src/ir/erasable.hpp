// Ops that only their results make needed.
#pragma once

namespace mir {

class Op;

/// True if nothing but its results could make a pure op needed, and nothing uses these: it neither
/// ends a block nor declares a symbol, and finds out no symbols.
bool is_unused(const Op& op);

/// True if the extents of all operands and results are numbers.
bool has_static_types(const Op& op);

/// True if the op can be erased without any effect once nothing uses its results: it is pure,
/// neither ends a block nor declares a symbol, and finds out no symbols.
bool is_erasable(const Op& op);

}  // namespace mir

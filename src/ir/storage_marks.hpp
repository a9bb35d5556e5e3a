// Ops that show the memory of a graph and compute nothing.
#pragma once

namespace mir {

class Op;

/// True for tensor.free, and for a tensor.alloc whose result nothing but tensor.free reads. A run
/// skips them, and estimates do not count them.
bool only_shows_memory(const Op& op);

}  // namespace mir

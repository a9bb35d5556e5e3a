// An op whose region takes its place.
#pragma once

#include <cstdint>
#include <span>

#include "mir/rewriter.hpp"

namespace mir {

/// Moves the ops of a region of one block before `op`, with `arguments` for those of the region,
/// and replaces the results of `op` by what the end of the region passes from operand `first` on. A
/// value that the region computes takes the name of the result, since others read it under that.
void replace_by_region(Rewriter& rewriter, Op& op, Region& region,
                       std::span<Value* const> arguments, std::uint32_t first = 0);

}  // namespace mir

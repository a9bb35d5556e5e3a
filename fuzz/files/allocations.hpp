// The largest allocation of this program, recorded by its operator new.
#pragma once

#include <cstddef>

namespace mir::fuzz {

void reset_allocations();
/// The most bytes that were allocated at a time since the last reset, over those at the reset.
std::size_t most_allocated();

}  // namespace mir::fuzz

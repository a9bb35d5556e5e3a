// The number of blocks of a region, for messages.
#pragma once

#include <string>

#include "mir/op.hpp"

namespace mir {

/// "graph '@f' has 3 blocks", "module 'main' has no blocks", "'cf.IfOp' has 2 blocks".
std::string describe_block_count(const Region& region);

}  // namespace mir

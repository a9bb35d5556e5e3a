// Branches between blocks whose condition is a constant.
#pragma once

#include <cstdint>

#include "mir/rewriter.hpp"

namespace mir {

struct BlockCleanup {
  std::uint64_t branches_taken = 0;
  std::uint64_t blocks_removed = 0;
  std::uint64_t blocks_merged = 0;
};

/// Replaces branches that always go one way, then removes the blocks that nothing reaches and
/// appends blocks to the only one that goes to them, without a choice. Does nothing if no branch
/// has a constant condition, or if control could not leave the region any more.
BlockCleanup take_constant_branches(Rewriter& rewriter, Region& region);

}  // namespace mir

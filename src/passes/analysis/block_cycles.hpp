// Loops of blocks.
#pragma once

#include <unordered_set>

#include "mir/op.hpp"

namespace mir {

/// True if a successor of some block is that block or an earlier one in the text. Only then can a
/// block of the region run several times while the region runs once.
inline bool may_repeat_blocks(const Region& region) {
  std::unordered_set<const Block*> seen;
  for (const Block* block : region.blocks()) {
    seen.insert(block);
    for (const OpExtra::Successor& each : block->successors()) {
      if (seen.contains(each.block)) return true;
    }
  }
  return false;
}

}  // namespace mir

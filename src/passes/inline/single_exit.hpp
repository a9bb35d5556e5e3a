// Regions of one block.
#pragma once

#include "mir/control_flow.hpp"
#include "mir/op.hpp"

namespace mir {

/// The terminator of a region of one block that leaves the region; null for other regions.
inline const Op* single_exit(const Region* region) {
  if (region == nullptr || region->empty() || region->entry() != region->last_block()) {
    return nullptr;
  }
  const Op* last = region->entry()->terminator();
  return last != nullptr && leaves_region(*last) ? last : nullptr;
}

}  // namespace mir

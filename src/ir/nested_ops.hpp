// The ops directly inside an op.
#pragma once

#include "mir/op.hpp"

namespace mir {

/// Calls `visit(Op&)` for each op of the op's regions, in order, without those inside them. The op
/// at hand may be erased.
void for_each_nested(const Op& op, auto&& visit) {
  for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for (Block* block = region->entry(); block != nullptr; block = block->next()) {
      for (Op* inner : block->ops()) visit(*inner);
    }
  }
}

}  // namespace mir

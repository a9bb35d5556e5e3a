// One walk over a module in the order of its text: every check looks at an op while it is at hand.
#pragma once

#include "mir/walk.hpp"
#include "verify/report.hpp"

namespace mir::checks {

/// For each region in order, nested ones after the op that has them: `enter(region)`, then `op(op)`
/// for each of its ops, then `leave(region)`, each of all checks in turn. Regions of templates are
/// left out. Large modules do not fit a cache, so one walk with many checks is several times faster
/// than a walk for each.
template <class... Checks>
void walk(const Region& region, Checks&... checks) {
  (checks.enter(region), ...);
  for (const Block* block : region.blocks()) {
    for (const Op* op : block->ops()) {
      (checks.op(*op), ...);
      if (op->has(Trait::kTemplate)) continue;
      for (const Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        walk(*inner, checks...);
      }
    }
  }
  (checks.leave(region), ...);
}

}  // namespace mir::checks

// One walk over a module in the order of its text: every check looks at an op while it is at hand.
#pragma once

#include <cstdint>

#include "mir/ir/module.hpp"

namespace mir::checks {

/// Ops lie in memory in the order of the text, at distances that no processor foresees: what comes
/// some ops later is fetched while the one at hand is looked at. Only a wish, for any address.
inline void fetch_ahead(const Op* op) {
  constexpr std::uintptr_t kDistance = 1536, kLine = 64;
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(op) + kDistance;
  for (std::uintptr_t i = 0; i < 5; ++i) {
    __builtin_prefetch(reinterpret_cast<const void*>(at + i * kLine));
  }
}

/// For each region in order, nested ones after the op that has them: `enter(region)`, then `op(op)`
/// for each of its ops, then `leave(region)`, each of all checks in turn. Large modules do not fit
/// a cache, so one walk with many checks is several times faster than a walk for each.
template <class... Checks>
void walk(const Region& region, Checks&... checks) {
  (checks.enter(region), ...);
  for (const Block* block = region.entry(); block != nullptr; block = block->next()) {
    for (const Op* op = block->front(); op != nullptr; op = op->next()) {
      fetch_ahead(op);
      (checks.op(*op), ...);
      for (const Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        walk(*inner, checks...);
      }
    }
  }
  (checks.leave(region), ...);
}

}  // namespace mir::checks

// The location of ops that a rewrite creates.
#pragma once

#include <vector>

#include "mir/module.hpp"
#include "mir/rewrite_patterns.hpp"

namespace mir {

/// That of the matched op, or those of several, fused.
inline Location location_of(const PatternMatch& match) {
  if (match.ops().size() == 1) return match.root().location();
  std::vector<Location> parts;
  for (const Op* op : match.ops()) parts.push_back(op->location());
  return match.root().module().context().locations().fused(parts);
}

}  // namespace mir

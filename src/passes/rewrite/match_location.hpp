// The location of ops that a rewrite creates.
#pragma once

#include <vector>

#include "mir/module.hpp"
#include "mir/rewrite_patterns.hpp"

namespace mir {

/// That of the matched op, or those of several, fused: the first few, or the locations along a
/// chain of rewrites would grow with it.
inline Location location_of(const PatternMatch& match) {
  constexpr std::size_t kMostParts = 8;
  if (match.ops().size() == 1) return match.root().location();
  LocationTable& locations = match.root().module().context().locations();
  std::vector<Location> parts;
  for (const Op* op : match.ops()) parts.push_back(op->location());
  const Location all = locations.fused(parts);
  const auto fused = locations.parts(all);
  if (locations.kind(all) != LocationKind::kFused || fused.size() <= kMostParts) return all;
  return locations.fused(fused.first(kMostParts));
}

}  // namespace mir

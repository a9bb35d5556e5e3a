// The bound of a slice that means all of a dimension.
#pragma once

#include <cstdint>

#include "mir/context.hpp"

namespace mir {

/// True for `all`, and for the number that upstream writes in its place.
inline bool is_all_of_dimension(const Attr& bound) {
  constexpr std::int64_t kAllOfDimension = 2147483633;
  return (bound.kind() == AttrKind::kString && bound.text() == "all") ||
         (bound.kind() == AttrKind::kInt && bound.integer() == kAllOfDimension);
}

/// True if an entry of `indices` states no bounds at all.
inline bool takes_all(const Attr& entry) {
  return is_all_of_dimension(entry) || (entry.kind() == AttrKind::kDict && entry.entries().empty());
}

}  // namespace mir

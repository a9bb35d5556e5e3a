// Keys that occur twice in a list of attributes.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_set>

#include "mir/type.hpp"

namespace mir {

/// The first key that the list has had before, in time that grows with the list.
inline std::optional<Symbol> repeated_key(std::span<const NamedAttr> list) {
  constexpr std::size_t kFew = 16;  // compared with each other sooner than hashed
  if (list.size() > kFew) {
    std::unordered_set<Symbol> keys;
    for (const NamedAttr& each : list) {
      if (!keys.insert(each.key).second) return each.key;
    }
    return std::nullopt;
  }
  for (auto each = list.begin(); each != list.end(); ++each) {
    if (std::find_if(list.begin(), each,
                     [&](const NamedAttr& before) { return before.key == each->key; }) != each) {
      return each->key;
    }
  }
  return std::nullopt;
}

}  // namespace mir

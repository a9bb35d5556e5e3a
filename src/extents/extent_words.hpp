// The extents in the text of a tensor type.
#pragma once

#include <algorithm>
#include <string_view>

namespace mir {

/// Calls `visit(word)` for each extent of a tensor type in canonical spacing.
template <class Visit>
void for_each_extent(std::string_view type, const Visit& visit) {
  constexpr std::size_t kDimsAt = std::string_view("tensor<[").size();
  const auto close = type.find(']');
  for (std::size_t at = kDimsAt; at < close;) {
    const auto comma = std::min(close, type.find(',', at));
    visit(type.substr(at, comma - at));
    at = comma + 2;
  }
}

}  // namespace mir

// Numbers that are close: one failure that says where they are not.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace mir::test {

/// The element of `count` that is farthest beyond its bound, and how many are: "2 of 9 are beyond
/// their bounds, [3] farthest: found 1.5, expected 1, bound 0.1". Empty where all keep theirs.
/// `distance(i)`, `found(i)`, `expected(i)` and `bound(i)` are numbers; a NaN is at distance 0 of
/// another one and beyond any bound of a number.
template <class Distance, class Found, class Expected, class Bound>
std::string beyond_bounds(std::size_t count, const Distance& distance, const Found& found,
                          const Expected& expected, const Bound& bound) {
  std::size_t beyond = 0, farthest = 0;
  double most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto got = static_cast<double>(found(i)), want = static_cast<double>(expected(i));
    if (got == want || (std::isnan(got) && std::isnan(want))) continue;
    const auto excess = static_cast<double>(distance(i)) / static_cast<double>(bound(i));
    if (excess <= 1) continue;
    if (beyond++ == 0 || !(excess <= most)) most = excess, farthest = i;
  }
  if (beyond == 0) return {};
  return fmt::format(
      "{} of {} are beyond their bounds, [{}] farthest: found {}, expected {}, bound {}", beyond,
      count, farthest, static_cast<double>(found(farthest)),
      static_cast<double>(expected(farthest)), static_cast<double>(bound(farthest)));
}

/// Likewise for lists of one length, with the difference as distance.
template <class List, class Other, class Bound>
std::string beyond_bounds_of(const List& found, const Other& expected, const Bound& bound) {
  if (found.size() != expected.size()) {
    return fmt::format("{} elements found, {} expected", found.size(), expected.size());
  }
  return beyond_bounds(
      found.size(), [&](std::size_t i) { return std::fabs(found[i] - expected[i]); },
      [&](std::size_t i) { return found[i]; }, [&](std::size_t i) { return expected[i]; }, bound);
}

/// One bound for all elements.
template <class List, class Other>
std::string not_within(double bound, const List& found, const Other& expected) {
  return beyond_bounds_of(found, expected, [&](std::size_t) { return bound; });
}

/// Bounds relative to the larger of 1 and the element.
template <class List, class Other>
std::string not_close(double relative, const List& found, const Other& expected) {
  return beyond_bounds_of(found, expected, [&](std::size_t i) {
    return relative * std::max(1.0, std::fabs(static_cast<double>(expected[i])));
  });
}

}  // namespace mir::test

// Lower bounds of sums over symbolic extents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "extents/dim_expr.hpp"
#include "extents/extent_range.hpp"

namespace mir {

/// Looks for lower bounds of sums of whole numbers, where each symbol is in the range that a
/// function gives. After a number of attempts it finds no more. The range function must outlive the
/// search.
class BoundSearch {
 public:
  explicit BoundSearch(const SymbolRangeFn& range) : range_(range) {}

  /// States sums that are at least 0, in place of those before.
  void know(std::vector<Polynomial> facts) { facts_ = std::move(facts); }

  /// True if `sum >= -slack` was found. At most so many quotients and maxima are replaced by their
  /// bounds, and facts subtracted.
  bool is_bounded_below(const Polynomial& sum, std::int64_t slack = 0, int steps = 4);

 private:
  bool is_bounded_in_cases(const DimTerm& term, const Polynomial& sum, std::int64_t slack,
                           int steps);
  bool is_bounded_without(const DimTerm& term, const Polynomial& sum, std::int64_t slack,
                          int steps);
  bool is_bounded_beside(const Polynomial& fact, const Polynomial& sum, std::int64_t slack,
                         int steps);

  const SymbolRangeFn& range_;
  std::vector<Polynomial> facts_;
  std::size_t attempts_left_ = 2000;
};

}  // namespace mir

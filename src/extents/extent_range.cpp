// Computes ranges of extents by interval arithmetic.
#include "extents/extent_range.hpp"

#include <algorithm>

namespace mir {

namespace {

/// Returns the range over all combinations of ends; no value if one exceeds 64 bits. `op` must be
/// monotone in each operand while the other one is fixed.
template <class Operation>
std::optional<ExtentRange> at_corners(ExtentRange a, ExtentRange b, const Operation& op) {
  ExtentRange found = {ExtentRange().most, ExtentRange().least};
  for (const std::int64_t left : {a.least, a.most}) {
    for (const std::int64_t right : {b.least, b.most}) {
      const std::optional<std::int64_t> corner = op(left, right);
      if (!corner) return std::nullopt;
      found = {std::min(found.least, *corner), std::max(found.most, *corner)};
    }
  }
  return found;
}

std::optional<ExtentRange> range_of(const DimExpr& factor, const SymbolRangeFn& of_symbol) {
  if (factor.kind == DimExpr::Kind::kSymbol) return of_symbol(factor.name);
  if (factor.kind == DimExpr::Kind::kMaximum) {
    const ExtentRange left = range_of(factor.left, of_symbol).value_or(ExtentRange());
    return ExtentRange{std::max<std::int64_t>(left.least, 0), std::max<std::int64_t>(left.most, 0)};
  }
  if (factor.kind != DimExpr::Kind::kQuotient) return std::nullopt;
  const auto dividend = range_of(factor.left, of_symbol);
  const auto divisor = range_of(factor.right, of_symbol);
  if (!dividend || !divisor || divisor->least < 1) return std::nullopt;
  // An open end stays one: the quotient grows with the dividend.
  auto quotient = at_corners(*dividend, *divisor, floor_quotient);
  if (quotient && !dividend->has_most()) quotient->most = ExtentRange().most;
  if (quotient && !dividend->has_least()) quotient->least = ExtentRange().least;
  return quotient;
}

/// Returns the product of ranges that cannot be negative. An open end stays open.
std::optional<ExtentRange> product(ExtentRange a, ExtentRange b) {
  if (a.least < 0 || b.least < 0) {
    const bool is_open = !a.has_least() || !a.has_most() || !b.has_least() || !b.has_most();
    return is_open ? std::nullopt : at_corners(a, b, checked_multiply);
  }
  const auto least = checked_multiply(a.least, b.least);
  if (!least) return std::nullopt;
  const bool is_zero = a.most == 0 || b.most == 0;
  const bool is_open = !a.has_most() || !b.has_most();
  const auto most = is_open ? std::nullopt : checked_multiply(a.most, b.most);
  return ExtentRange{*least, is_zero ? 0 : most.value_or(ExtentRange().most)};
}

std::optional<ExtentRange> range_of(const DimTerm& term, const SymbolRangeFn& of_symbol) {
  std::optional<ExtentRange> range = ExtentRange{1, 1};
  for (const DimExpr* factor : term.factors) {
    const auto one = range_of(*factor, of_symbol);
    range = range && one ? product(*range, *one) : std::nullopt;
  }
  if (!range) return range;
  const ExtentRange coefficient = {term.coefficient, term.coefficient};
  if (range->least >= 0 && term.coefficient > 0) return product(*range, coefficient);
  if (range->least >= 0 && !range->has_most()) {
    const auto most = checked_multiply(term.coefficient, range->least);
    return most ? std::optional(ExtentRange{ExtentRange().least, *most}) : std::nullopt;
  }
  return product(*range, coefficient);
}

/// Ends that are open stay so.
std::optional<ExtentRange> sum_of(ExtentRange a, ExtentRange b) {
  ExtentRange found;
  const auto least = checked_add(a.least, b.least), most = checked_add(a.most, b.most);
  const bool has_least = a.has_least() && b.has_least();
  const bool has_most = a.has_most() && b.has_most();
  if ((has_least && !least) || (has_most && !most)) return std::nullopt;
  if (has_least) found.least = *least;
  if (has_most) found.most = *most;
  return found;
}

}  // namespace

std::optional<ExtentRange> range_of(const Polynomial& sum, const SymbolRangeFn& range_of_symbol) {
  std::optional<ExtentRange> range = ExtentRange{sum.constant, sum.constant};
  for (const DimTerm& term : sum.terms) {
    const auto one = range_of(term, range_of_symbol);
    range = range && one ? sum_of(*range, *one) : std::nullopt;
  }
  return range;
}

}  // namespace mir

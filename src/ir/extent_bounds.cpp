// Looks for lower bounds of sums by replacing quotients and maxima, and by subtracting facts.
#include "ir/extent_bounds.hpp"

#include <algorithm>
#include <numeric>

namespace mir {

namespace {

/// The term without its coefficient, times a number.
Polynomial product_of(const DimTerm& term, std::int64_t coefficient) {
  Polynomial product;
  product.terms.push_back(term);
  product.terms.front().coefficient = coefficient;
  return product;
}

}  // namespace

bool BoundSearch::is_bounded_below(const Polynomial& sum, std::int64_t slack, int steps) {
  if (attempts_left_ == 0) return false;
  --attempts_left_;
  const auto found = range_of(sum, range_);
  if (found && found->has_least() && found->least >= -slack) return true;
  if (steps == 0) return false;
  return std::ranges::any_of(
             sum.terms,
             [&](const DimTerm& term) { return is_bounded_without(term, sum, slack, steps); }) ||
         std::ranges::any_of(facts_, [&](const Polynomial& fact) {
           return is_bounded_beside(fact, sum, slack, steps);
         });
}

/// Proves the bound with a maximum of x and 0 in `term` replaced by one of the two. If it is
/// subtracted, both must be bounded; otherwise one suffices, because either is at most the
/// maximum.
bool BoundSearch::is_bounded_in_cases(const DimTerm& term, const Polynomial& sum,
                                      std::int64_t slack, int steps) {
  Polynomial own;
  own.terms.push_back(term);
  const auto without = subtract(sum, own);
  const auto value = multiply(term.factors[0]->left, constant_polynomial(term.coefficient));
  const auto with = without && value ? add(*without, *value) : std::nullopt;
  if (!with) return false;
  const auto is_bounded = [&](const Polynomial& each) {
    return is_bounded_below(each, slack, steps - 1);
  };
  return term.coefficient < 0 ? is_bounded(*without) && is_bounded(*with)
                              : is_bounded(*without) || is_bounded(*with);
}

/// Proves the bound with a quotient [x / c] in `term` replaced by (x - r) / c, where r is 0 to c
/// - 1: then c * sum >= -c * (slack + 1) + 1.
bool BoundSearch::is_bounded_without(const DimTerm& term, const Polynomial& sum, std::int64_t slack,
                                     int steps) {
  if (term.factors.size() != 1) return false;
  const DimExpr& quotient = *term.factors[0];
  if (quotient.kind == DimExpr::Kind::kMaximum) {
    return is_bounded_in_cases(term, sum, slack, steps);
  }
  if (quotient.kind != DimExpr::Kind::kQuotient || !quotient.right.is_constant()) return false;
  const std::int64_t divisor = quotient.right.constant;
  if (divisor < 1) return false;
  Polynomial own;
  own.terms.push_back(term);
  const auto rest = subtract(sum, own);
  const auto scaled = rest ? multiply(*rest, constant_polynomial(divisor)) : rest;
  const auto dividend = multiply(quotient.left, constant_polynomial(term.coefficient));
  auto all = scaled && dividend ? add(*scaled, *dividend) : std::nullopt;
  const auto remainders =
      checked_multiply(std::max<std::int64_t>(term.coefficient, 0), divisor - 1);
  if (all && remainders) all = subtract(*all, constant_polynomial(*remainders));
  const auto one_more = checked_add(slack, 1);
  const auto bound = one_more ? checked_multiply(*one_more, divisor) : one_more;
  return all && remainders && bound && is_bounded_below(*all, *bound - 1, steps - 1);
}

/// Proves the bound of a multiple of the sum, less a product of the fact that cancels a term: what
/// is subtracted is at least 0.
bool BoundSearch::is_bounded_beside(const Polynomial& fact, const Polynomial& sum,
                                    std::int64_t slack, int steps) {
  const auto is_bounded_at = [&](const DimTerm& term, const DimTerm& part) {
    if ((term.coefficient > 0) != (part.coefficient > 0)) return false;
    auto rest = cofactor(term, product_of(part, 1));
    if (!rest) return false;
    const auto least = range_of(*rest, range_);
    if (!least || least->least < 0) return false;
    const std::int64_t common = std::gcd(term.coefficient, part.coefficient);
    const std::int64_t times = std::abs(part.coefficient / common);
    rest = multiply(*rest, constant_polynomial(std::abs(term.coefficient / common)));
    const auto scaled = multiply(sum, constant_polynomial(times));
    const auto product = rest ? multiply(*rest, fact) : rest;
    const auto left = scaled && product ? subtract(*scaled, *product) : std::nullopt;
    const auto one_more = checked_add(slack, 1);
    const auto bound = one_more ? checked_multiply(*one_more, times) : one_more;
    return left && bound && is_bounded_below(*left, *bound - 1, steps - 1);
  };
  return std::ranges::any_of(sum.terms, [&](const DimTerm& term) {
    return std::ranges::any_of(fact.terms,
                               [&](const DimTerm& part) { return is_bounded_at(term, part); });
  });
}

}  // namespace mir

// Polynomial arithmetic on extents in a canonical order of terms.
#include "extents/dim_expr.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace mir {

namespace {

using Factors = std::vector<const DimExpr*>;

bool text_less(const DimExpr* a, const DimExpr* b) {
  return a != b && a->text < b->text;
}

/// True if the text of the factor is an operation without parentheses around it.
bool is_compound(const DimExpr* factor) {
  return factor->kind == DimExpr::Kind::kQuotient || factor->kind == DimExpr::Kind::kRemainder;
}

std::string key_of(const Factors& factors) {
  if (factors.size() == 1) return factors.front()->text;
  std::string key;
  for (const DimExpr* factor : factors) {
    if (!key.empty()) key += '*';
    key += is_compound(factor) ? '(' + factor->text + ')' : factor->text;
  }
  return key;
}

DimTerm term_of(std::int64_t coefficient, Factors factors) {
  std::string key = key_of(factors);
  return {coefficient, std::move(factors), std::move(key)};
}

Polynomial term_polynomial(DimTerm term) {
  if (term.factors.empty()) return constant_polynomial(term.coefficient);
  Polynomial sum;
  sum.terms.push_back(std::move(term));
  return sum;
}

bool fits(const Polynomial& sum) {
  std::size_t length = 0;
  for (const DimTerm& term : sum.terms) length += term.key.size();
  return length <= kMaxDimText;
}

template <class Combine>
std::optional<Polynomial> merge(const Polynomial& a, const Polynomial& b, Combine combine) {
  const auto constant = combine(a.constant, b.constant);
  if (!constant) return std::nullopt;
  Polynomial sum = constant_polynomial(*constant);
  for (auto i = a.terms.begin(), j = b.terms.begin(); i != a.terms.end() || j != b.terms.end();) {
    const int order = i == a.terms.end() ? 1 : j == b.terms.end() ? -1 : i->key.compare(j->key);
    const DimTerm& term = order <= 0 ? *i : *j;
    const std::int64_t in_a = order <= 0 ? (i++)->coefficient : 0;
    const std::int64_t in_b = order >= 0 ? (j++)->coefficient : 0;
    const auto coefficient = combine(in_a, in_b);
    if (!coefficient) return std::nullopt;
    if (*coefficient != 0) sum.terms.push_back({*coefficient, term.factors, term.key});
  }
  if (!fits(sum)) return std::nullopt;
  return sum;
}

/// The terms and, as one without factors, the constant.
std::vector<DimTerm> terms_and_constant(const Polynomial& sum) {
  std::vector<DimTerm> terms = sum.terms;
  if (sum.constant != 0) terms.push_back({sum.constant, {}, {}});
  return terms;
}

/// The product without the factors of `part`; none when it lacks one of them.
std::optional<Factors> without(const Factors& product, const Factors& part) {
  if (!std::includes(product.begin(), product.end(), part.begin(), part.end(), text_less)) {
    return std::nullopt;
  }
  Factors rest;
  std::set_difference(product.begin(), product.end(), part.begin(), part.end(),
                      std::back_inserter(rest), text_less);
  return rest;
}

/// a / b where both the coefficient and the factors of b divide those of a.
std::optional<DimTerm> divide_exactly(const DimTerm& a, const DimTerm& b) {
  if (floor_remainder(a.coefficient, b.coefficient) != 0) return std::nullopt;
  const auto coefficient = floor_quotient(a.coefficient, b.coefficient);
  auto factors = without(a.factors, b.factors);
  if (!coefficient || !factors) return std::nullopt;
  return term_of(*coefficient, std::move(*factors));
}

/// Graded lexicographic order: products keep it, so the leading term of a product is the product of
/// the leading terms.
bool leads(const DimTerm& a, const DimTerm& b) {
  if (a.factors.size() != b.factors.size()) return a.factors.size() > b.factors.size();
  return std::lexicographical_compare(a.factors.begin(), a.factors.end(), b.factors.begin(),
                                      b.factors.end(), text_less);
}

const DimTerm& leading_term(const Polynomial& sum) {
  return *std::min_element(sum.terms.begin(), sum.terms.end(), leads);
}

/// The polynomial q with a = b * q, by long division; b has a term.
std::optional<Polynomial> divide_exactly(const Polynomial& a, const Polynomial& b) {
  const DimTerm& divisor = leading_term(b);
  Polynomial whole;
  std::optional<Polynomial> rest = a;
  while (rest && !rest->is_zero()) {
    if (rest->is_constant()) return std::nullopt;
    auto next = divide_exactly(leading_term(*rest), divisor);
    if (!next) return std::nullopt;
    const Polynomial step = term_polynomial(std::move(*next));
    const auto product = multiply(step, b);
    auto sum = add(whole, step);
    if (!product || !sum) return std::nullopt;
    whole = std::move(*sum);
    rest = subtract(*rest, *product);
  }
  if (!rest) return std::nullopt;
  return whole;
}

struct WholeAndRest {
  Polynomial whole;
  Polynomial rest;
};

/// a = b * whole + rest: term by term where b is a constant or one term, else all or nothing.
WholeAndRest split(const Polynomial& a, const Polynomial& b) {
  if (!b.is_constant() && !b.is_single_term()) {
    if (auto whole = divide_exactly(a, b)) return {std::move(*whole), {}};
    return {{}, a};
  }
  const DimTerm divisor = b.is_constant() ? DimTerm{b.constant, {}, {}} : b.terms.front();
  WholeAndRest result;
  std::vector<DimTerm>& whole = result.whole.terms;
  for (const DimTerm& term : a.terms) {
    auto quotient = divide_exactly(term, divisor);
    if (!quotient) {
      result.rest.terms.push_back(term);
    } else if (quotient->factors.empty()) {
      result.whole.constant = quotient->coefficient;
    } else {
      whole.push_back(std::move(*quotient));
    }
  }
  std::sort(whole.begin(), whole.end(),
            [](const DimTerm& x, const DimTerm& y) { return x.key < y.key; });
  result.rest.constant = a.constant;
  if (b.is_constant()) {
    result.whole.constant = *floor_quotient(a.constant, b.constant);
    result.rest.constant = *floor_remainder(a.constant, b.constant);
  }
  return result;
}

std::uint64_t magnitude(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

std::uint64_t common_coefficient(const Polynomial& sum, std::uint64_t with) {
  for (const DimTerm& term : sum.terms) with = std::gcd(with, magnitude(term.coefficient));
  return with;
}

/// The factors that every term of a and b has; constants, if not 0, have none.
Factors common_factors(const Polynomial& a, const Polynomial& b) {
  if (b.is_constant() || a.constant != 0 || b.constant != 0) return {};
  Factors common = b.terms.front().factors;
  for (const Polynomial* sum : {&a, &b}) {
    for (const DimTerm& term : sum->terms) {
      Factors both;
      std::set_intersection(common.begin(), common.end(), term.factors.begin(), term.factors.end(),
                            std::back_inserter(both), text_less);
      common = std::move(both);
    }
  }
  return common;
}

/// The sum over coefficient and factors that each of its terms has. The constant is rounded down.
Polynomial cancel(const Polynomial& sum, std::int64_t coefficient, const Factors& factors) {
  Polynomial result = constant_polynomial(*floor_quotient(sum.constant, coefficient));
  for (const DimTerm& term : sum.terms) {
    DimTerm left = term_of(term.coefficient / coefficient, *without(term.factors, factors));
    if (left.factors.empty()) {
      result.constant = left.coefficient;
    } else {
      result.terms.push_back(std::move(left));
    }
  }
  std::sort(result.terms.begin(), result.terms.end(),
            [](const DimTerm& x, const DimTerm& y) { return x.key < y.key; });
  return result;
}

std::optional<std::int64_t> evaluate(const Polynomial& sum, const DimBindings& bindings) {
  std::optional<std::int64_t> total = sum.constant;
  for (const DimTerm& term : sum.terms) {
    std::optional<std::int64_t> product = term.coefficient;
    for (const DimExpr* factor : term.factors) {
      const auto value = evaluate(*factor, bindings);
      if (!value) return std::nullopt;
      product = checked_multiply(*product, *value);
      if (!product) return std::nullopt;
    }
    total = checked_add(*total, *product);
    if (!total) return std::nullopt;
  }
  return total;
}

}  // namespace

std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

std::optional<std::int64_t> checked_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}

std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

std::optional<std::int64_t> floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return checked_subtract(0, a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

std::optional<std::int64_t> floor_remainder(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

const DimExpr* Polynomial::single_factor() const {
  if (!is_single_term() || terms[0].coefficient != 1) return nullptr;
  return terms[0].factors.size() == 1 ? terms[0].factors[0] : nullptr;
}

Polynomial constant_polynomial(std::int64_t constant) {
  return {{}, constant};
}

Polynomial polynomial_of(const DimExpr* expr) {
  return expr->kind == DimExpr::Kind::kSum ? expr->left : term_polynomial(term_of(1, {expr}));
}

std::optional<Polynomial> add(const Polynomial& a, const Polynomial& b) {
  return merge(a, b, checked_add);
}

std::optional<Polynomial> subtract(const Polynomial& a, const Polynomial& b) {
  return merge(a, b, checked_subtract);
}

std::optional<Polynomial> multiply(const Polynomial& a, const Polynomial& b) {
  const std::vector<DimTerm> of_a = terms_and_constant(a), of_b = terms_and_constant(b);
  if (of_a.size() * of_b.size() > kMaxDimProducts) return std::nullopt;
  std::vector<DimTerm> products;
  for (const DimTerm& x : of_a) {
    for (const DimTerm& y : of_b) {
      const auto coefficient = checked_multiply(x.coefficient, y.coefficient);
      if (!coefficient) return std::nullopt;
      Factors factors;
      std::merge(x.factors.begin(), x.factors.end(), y.factors.begin(), y.factors.end(),
                 std::back_inserter(factors), text_less);
      products.push_back(term_of(*coefficient, std::move(factors)));
    }
  }
  // The coefficient decides between equal keys, so that a * b adds up in the same order as b * a.
  std::sort(products.begin(), products.end(), [](const DimTerm& x, const DimTerm& y) {
    const int order = x.key.compare(y.key);
    return order != 0 ? order < 0 : x.coefficient < y.coefficient;
  });
  Polynomial sum;
  for (auto i = products.begin(); i != products.end();) {
    DimTerm term = std::move(*i);
    for (++i; i != products.end() && i->key == term.key; ++i) {
      const auto coefficient = checked_add(term.coefficient, i->coefficient);
      if (!coefficient) return std::nullopt;
      term.coefficient = *coefficient;
    }
    if (term.factors.empty()) {
      sum.constant = term.coefficient;
    } else if (term.coefficient != 0) {
      sum.terms.push_back(std::move(term));
    }
  }
  if (!fits(sum)) return std::nullopt;
  return sum;
}

std::int64_t leading_coefficient(const Polynomial& sum) {
  return sum.is_constant() ? sum.constant : leading_term(sum).coefficient;
}

Polynomial leading_product(const Polynomial& sum) {
  return term_polynomial(term_of(1, leading_term(sum).factors));
}

std::optional<Polynomial> cofactor(const DimTerm& term, const Polynomial& part) {
  auto factors = without(term.factors, part.terms.front().factors);
  if (!factors) return std::nullopt;
  return term_polynomial(term_of(1, std::move(*factors)));
}

ReducedDivision reduce_division(const Polynomial& a, const Polynomial& b) {
  auto [whole, rest] = split(a, b);
  std::uint64_t common = common_coefficient(rest, common_coefficient(b, magnitude(b.constant)));
  // Rounding the constant down is exact under a positive divisor only.
  if (!b.is_constant()) common = std::gcd(common, magnitude(rest.constant));
  const auto coefficient = static_cast<std::int64_t>(common);
  const Factors factors = common_factors(rest, b);
  ReducedDivision result;
  result.numerator = cancel(rest, coefficient, factors);
  result.divisor = cancel(b, coefficient, factors);
  result.whole = std::move(whole);
  return result;
}

std::int64_t common_divisor(const Polynomial& sum) {
  const std::uint64_t common = common_coefficient(sum, magnitude(sum.constant));
  // Only of multiples of 2^63, which stay as they are.
  return std::in_range<std::int64_t>(common) ? static_cast<std::int64_t>(common) : 1;
}

Polynomial divided(const Polynomial& sum, std::int64_t divisor) {
  Polynomial result = sum;
  result.constant /= divisor;
  for (DimTerm& term : result.terms) term.coefficient /= divisor;
  return result;
}

bool has_maximum(const Polynomial& sum) {
  return std::ranges::any_of(sum.terms, [](const DimTerm& term) {
    return std::ranges::any_of(term.factors, [](const DimExpr* factor) {
      return factor->kind == DimExpr::Kind::kMaximum || has_maximum(factor->left) ||
             has_maximum(factor->right);
    });
  });
}

std::string text_of(const Polynomial& sum) {
  std::string text;
  const auto append_sign_of_sum = [&text](std::int64_t value) {
    // `a-9223372036854775808` would need a literal beyond 64 bits.
    constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
    if (!text.empty() && (value >= 0 || value == kLowest)) text += '+';
  };
  for (const DimTerm& term : sum.terms) {
    const std::int64_t coefficient = term.coefficient;
    const bool leading_minus = text.empty() && coefficient == -1;
    const bool has_number = coefficient != 1 && coefficient != -1;
    append_sign_of_sum(coefficient);
    if (has_number) text += std::to_string(coefficient) + '*';
    if (coefficient == -1) text += '-';
    const bool one_compound = term.factors.size() == 1 && is_compound(term.factors[0]);
    const bool closed = one_compound && (has_number || leading_minus);
    text += closed ? '(' + term.key + ')' : term.key;
  }
  if (sum.constant != 0 || sum.is_constant()) {
    append_sign_of_sum(sum.constant);
    text += std::to_string(sum.constant);
  }
  return text;
}

std::string text_of(const Polynomial& left, char sign, const Polynomial& right) {
  const bool left_is_product = left.is_constant() || left.is_single_term();
  const DimExpr* factor = right.single_factor();
  const bool right_is_word = right.is_constant() || (factor != nullptr && !is_compound(factor));
  std::string text = left_is_product ? text_of(left) : '(' + text_of(left) + ')';
  text += sign;
  text += right_is_word ? text_of(right) : '(' + text_of(right) + ')';
  return text;
}

int depth_of(const Polynomial& sum) {
  int depth = 0;
  for (const DimTerm& term : sum.terms) {
    for (const DimExpr* factor : term.factors) depth = std::max(depth, factor->depth);
  }
  return depth;
}

std::optional<std::int64_t> evaluate(const DimExpr& expr, const DimBindings& bindings) {
  switch (expr.kind) {
    case DimExpr::Kind::kUnknown:
      return std::nullopt;
    case DimExpr::Kind::kSymbol:
      return bindings.find(expr.name);
    case DimExpr::Kind::kSum:
      return evaluate(expr.left, bindings);
    case DimExpr::Kind::kQuotient:
    case DimExpr::Kind::kRemainder:
    case DimExpr::Kind::kMaximum:
    case DimExpr::Kind::kMinimum:
      break;
  }
  const auto left = evaluate(expr.left, bindings);
  const auto right = evaluate(expr.right, bindings);
  if (!left || !right) return std::nullopt;
  if (expr.kind == DimExpr::Kind::kMaximum) return std::max(*left, *right);
  if (expr.kind == DimExpr::Kind::kMinimum) return std::min(*left, *right);
  return expr.kind == DimExpr::Kind::kQuotient ? floor_quotient(*left, *right)
                                               : floor_remainder(*left, *right);
}

}  // namespace mir

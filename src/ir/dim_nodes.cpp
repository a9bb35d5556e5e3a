#include "ir/dim_nodes.hpp"

#include <algorithm>
#include <mutex>
#include <string>

namespace mir {

// note [rules of division]
// Dividing by what has a negative leading coefficient is dividing the negated operands. What
// divides exactly leaves the quotient (`(4*$S+7)/4` is `$S+1`), common coefficients and factors
// cancel (`2*$S/4` is `$S/2`), and with d and c constant and positive
//   [([a / d] + k) / c] = [(a + k * d) / (d * c)],
//   k * (a mod d) = k * a  modulo c, where c divides k * d.
// The operands of a quotient or remainder node admit none of these, so reading its text back makes
// the same node.

namespace {

bool is_identifier(std::string_view name) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), is_word);
}

std::optional<Polynomial> negate(const Polynomial& sum) {
  return subtract(constant_polynomial(0), sum);
}

/// The dividend and divisor that [sum / divisor] has once the quotient inside `sum` is dissolved.
struct Fraction {
  Polynomial dividend;
  Polynomial divisor;
};

std::optional<Fraction> dissolve_quotient(const Polynomial& sum, const Polynomial& divisor) {
  if (!divisor.is_constant() || sum.terms.size() != 1) return std::nullopt;
  const DimTerm& term = sum.terms[0];
  if (term.coefficient != 1 || term.factors.size() != 1) return std::nullopt;
  const DimExpr& inner = *term.factors[0];
  if (inner.kind != DimExpr::Kind::kQuotient || !inner.right.is_constant()) return std::nullopt;
  const auto product = checked_multiply(inner.right.constant, divisor.constant);
  const auto carried = checked_multiply(sum.constant, inner.right.constant);
  if (!product || !carried) return std::nullopt;
  auto dividend = add(inner.left, constant_polynomial(*carried));
  if (!dividend) return std::nullopt;
  return Fraction{std::move(*dividend), constant_polynomial(*product)};
}

/// `sum` with each remainder that `divisor` makes superfluous dissolved; none when there is none.
std::optional<Polynomial> dissolve_remainders(const Polynomial& sum, const Polynomial& divisor) {
  if (!divisor.is_constant()) return std::nullopt;
  std::optional<Polynomial> result;
  for (const DimTerm& term : sum.terms) {
    const DimExpr& inner = *term.factors[0];
    if (term.factors.size() != 1 || inner.kind != DimExpr::Kind::kRemainder) continue;
    if (!inner.right.is_constant()) continue;
    const auto period = checked_multiply(term.coefficient, inner.right.constant);
    if (!period || floor_remainder(*period, divisor.constant) != 0) continue;
    const auto surplus = subtract(inner.left, polynomial_of(&inner));
    const auto scaled =
        surplus ? multiply(*surplus, constant_polynomial(term.coefficient)) : surplus;
    auto next = scaled ? add(result ? *result : sum, *scaled) : scaled;
    if (next) result = std::move(next);
  }
  return result;
}

}  // namespace

const DimExpr* DimNodes::find(std::string_view text) const {
  const std::uint64_t hash = hash_text(text);
  const std::shared_lock lock(mutex_);
  const auto* found = by_text_.find(text, hash);
  return found != nullptr ? *found : nullptr;
}

const DimExpr* DimNodes::insert(DimExpr node) {
  const std::uint64_t hash = hash_text(node.text);
  const std::lock_guard lock(mutex_);
  if (const auto* found = by_text_.find(node.text, hash)) return *found;
  const DimExpr& kept = nodes_.emplace_back(std::move(node));
  by_text_.insert(kept.text, hash, &kept);
  return &kept;
}

const DimExpr* DimNodes::symbol(std::string_view name) {
  if (name.size() >= kMaxDimText) return nullptr;
  std::string text = "$";
  text += name;
  if (const DimExpr* found = find(text)) {
    return found->kind == DimExpr::Kind::kSymbol ? found : nullptr;
  }
  if (!is_identifier(name)) return nullptr;
  DimExpr made;
  made.kind = DimExpr::Kind::kSymbol;
  made.name = strings_.intern(name);
  made.text = std::move(text);
  return insert(std::move(made));
}

const DimExpr* DimNodes::node(const Polynomial& sum) {
  if (const DimExpr* factor = sum.single_factor()) return factor;
  std::string text = text_of(sum);
  if (text.size() > kMaxDimText) return nullptr;
  if (const DimExpr* found = find(text)) return found;
  DimExpr made;
  made.kind = DimExpr::Kind::kSum;
  made.depth = depth_of(sum);
  made.left = sum;
  made.text = std::move(text);
  return insert(std::move(made));
}

std::optional<Polynomial> DimNodes::compound(DimExpr::Kind kind, const Polynomial& left,
                                             const Polynomial& right) {
  const int depth = 1 + std::max(depth_of(left), depth_of(right));
  std::string text = text_of(left, kind == DimExpr::Kind::kQuotient ? '/' : '%', right);
  if (depth > kMaxDimDepth || text.size() > kMaxDimText) return std::nullopt;
  if (const DimExpr* found = find(text)) return polynomial_of(found);
  DimExpr made;
  made.kind = kind;
  made.depth = depth;
  made.left = left;
  made.right = right;
  made.text = std::move(text);
  return polynomial_of(insert(std::move(made)));
}

std::optional<Polynomial> DimNodes::reduced_quotient(const Polynomial& a, const Polynomial& b,
                                                     bool was_constant) {
  if (b.is_constant() && !was_constant) return quotient(a, b);
  const auto inner = dissolve_quotient(a, b);
  return inner ? quotient(inner->dividend, inner->divisor)
               : compound(DimExpr::Kind::kQuotient, a, b);
}

std::optional<Polynomial> DimNodes::reduced_remainder(const Polynomial& a, const Polynomial& b,
                                                      bool was_constant) {
  if (b.is_constant() && !was_constant) return remainder(a, b);
  const auto simpler = dissolve_remainders(a, b);
  return simpler ? remainder(*simpler, b) : compound(DimExpr::Kind::kRemainder, a, b);
}

std::optional<Polynomial> DimNodes::quotient(const Polynomial& a, const Polynomial& b) {
  if (a.is_constant() && b.is_constant()) {
    const auto value = floor_quotient(a.constant, b.constant);
    return value ? std::optional(constant_polynomial(*value)) : std::nullopt;
  }
  if (b.is_zero()) return std::nullopt;
  if (leading_coefficient(b) < 0) {
    const auto dividend = negate(a), divisor = negate(b);
    return dividend && divisor ? quotient(*dividend, *divisor) : std::nullopt;
  }
  const ReducedDivision reduced = reduce(a, b);
  if (reduced.numerator.is_zero()) return reduced.whole;
  if (reduced.divisor.is_one()) return add(reduced.whole, reduced.numerator);
  const auto part = reduced_quotient(reduced.numerator, reduced.divisor, b.is_constant());
  return part ? add(reduced.whole, *part) : std::nullopt;
}

std::optional<Polynomial> DimNodes::remainder(const Polynomial& a, const Polynomial& b) {
  if (a.is_constant() && b.is_constant()) {
    const auto value = floor_remainder(a.constant, b.constant);
    return value ? std::optional(constant_polynomial(*value)) : std::nullopt;
  }
  if (b.is_zero()) return std::nullopt;
  if (leading_coefficient(b) < 0) {
    const auto dividend = negate(a), divisor = negate(b);
    const auto rest = dividend && divisor ? remainder(*dividend, *divisor) : std::nullopt;
    return rest ? negate(*rest) : std::nullopt;
  }
  const ReducedDivision reduced = reduce(a, b);
  if (reduced.numerator.is_zero() || reduced.divisor.is_one())
    return constant_polynomial(reduced.rest);
  const auto part = reduced_remainder(reduced.numerator, reduced.divisor, b.is_constant());
  const auto scaled = part ? multiply(reduced.scale, *part) : std::nullopt;
  return scaled ? add(*scaled, constant_polynomial(reduced.rest)) : std::nullopt;
}

std::optional<Polynomial> DimNodes::substitute(const DimExpr& factor, const DimBindings& bindings) {
  if (factor.kind == DimExpr::Kind::kSymbol) {
    const auto value = bindings.find(factor.name);
    return value ? constant_polynomial(*value) : polynomial_of(&factor);
  }
  const auto left = substitute(factor.left, bindings);
  const auto right = substitute(factor.right, bindings);
  if (!left || !right) return std::nullopt;
  return factor.kind == DimExpr::Kind::kQuotient ? quotient(*left, *right)
                                                 : remainder(*left, *right);
}

std::optional<Polynomial> DimNodes::substitute(const Polynomial& sum, const DimBindings& bindings) {
  std::optional<Polynomial> total = constant_polynomial(sum.constant);
  for (const DimTerm& term : sum.terms) {
    std::optional<Polynomial> product = constant_polynomial(term.coefficient);
    for (const DimExpr* factor : term.factors) {
      const auto value = substitute(*factor, bindings);
      if (!value) return std::nullopt;
      product = multiply(*product, *value);
      if (!product) return std::nullopt;
    }
    total = add(*total, *product);
    if (!total) return std::nullopt;
  }
  return total;
}

}  // namespace mir

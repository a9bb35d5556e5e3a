// Compiles and evaluates extents over numbered symbols.
#include "eval/generic_index.hpp"

#include <algorithm>
#include <utility>

namespace mir::eval {

std::optional<CompiledExtent> CompiledExtent::compile(Dim extent, std::span<const Symbol> names) {
  CompiledExtent compiled;
  auto sum = compile(
      extent.is_constant() ? constant_polynomial(extent.constant()) : polynomial_of(extent.expr()),
      names);
  if (!sum) return std::nullopt;
  compiled.sum_ = *std::move(sum);
  compiled.find_steps(names.size());
  return compiled;
}

std::optional<CompiledExtent::Sum> CompiledExtent::compile(const Polynomial& sum,
                                                           std::span<const Symbol> names) {
  Sum compiled{.constant = sum.constant, .terms = {}};
  for (const DimTerm& term : sum.terms) {
    Term& made = compiled.terms.emplace_back(Term{.coefficient = term.coefficient, .factors = {}});
    for (const DimExpr* each : term.factors) {
      Factor& factor = made.factors.emplace_back();
      factor.kind = each->kind;
      if (each->kind == DimExpr::Kind::kSymbol) {
        const auto found = std::ranges::find(names, each->name);
        if (found == names.end()) return std::nullopt;
        factor.name = static_cast<std::size_t>(found - names.begin());
        continue;
      }
      auto left = compile(each->left, names), right = compile(each->right, names);
      if (!left || !right) return std::nullopt;
      factor.left = std::make_shared<const Sum>(*std::move(left));
      factor.right = std::make_shared<const Sum>(*std::move(right));
    }
  }
  return compiled;
}

void CompiledExtent::find_steps(std::size_t name_count) {
  steps_.assign(name_count, 0);
  is_linear_ = std::ranges::all_of(sum_.terms, [](const Term& term) {
    return term.factors.size() == 1 && term.factors.front().kind == DimExpr::Kind::kSymbol;
  });
  for (const Term& term : sum_.terms) {
    if (is_linear_) steps_[term.factors.front().name] = term.coefficient;
  }
}

std::optional<std::int64_t> CompiledExtent::value(std::span<const std::int64_t> values) const {
  return value(sum_, values);
}

std::optional<std::int64_t> CompiledExtent::value(const Sum& sum,
                                                  std::span<const std::int64_t> values) {
  std::int64_t total = sum.constant;
  for (const Term& term : sum.terms) {
    std::int64_t product = term.coefficient;
    for (const Factor& factor : term.factors) {
      const auto each = value(factor, values);
      const auto next = each ? checked_multiply(product, *each) : std::nullopt;
      if (!next) return std::nullopt;
      product = *next;
    }
    const auto next = checked_add(total, product);
    if (!next) return std::nullopt;
    total = *next;
  }
  return total;
}

std::optional<std::int64_t> CompiledExtent::value(const Factor& factor,
                                                  std::span<const std::int64_t> values) {
  if (factor.kind == DimExpr::Kind::kSymbol) return values[factor.name];
  const auto left = value(*factor.left, values);
  if (!left) return std::nullopt;
  if (factor.kind == DimExpr::Kind::kMaximum) return std::max<std::int64_t>(*left, 0);
  const auto right = value(*factor.right, values);
  return right ? floor_quotient(*left, *right) : std::nullopt;
}

}  // namespace mir::eval

// Compiles and evaluates extents over numbered symbols.
#include "extents/compiled_extent.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mir {

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
    const Factor& only = term.factors.front();
    if (term.factors.size() != 1 || only.kind != DimExpr::Kind::kSymbol) continue;
    steps_[only.name] = term.coefficient;
  }
}

bool CompiledExtent::depends_on(const Sum& sum, std::size_t name) {
  return std::ranges::any_of(sum.terms, [&](const Term& term) { return depends_on(term, name); });
}

bool CompiledExtent::depends_on(const Term& term, std::size_t name) {
  return std::ranges::any_of(term.factors, [&](const Factor& factor) {
    return factor.kind == DimExpr::Kind::kSymbol
               ? factor.name == name
               : depends_on(*factor.left, name) || depends_on(*factor.right, name);
  });
}

void CompiledExtent::drop_quotient(std::size_t name, std::int64_t divisor) {
  const auto is_zero = [&](const Factor& factor) {
    if (factor.kind != DimExpr::Kind::kQuotient) return false;
    const Sum &left = *factor.left, &right = *factor.right;
    const bool is_symbol = left.constant == 0 && left.terms.size() == 1 &&
                           left.terms[0].coefficient == 1 && left.terms[0].factors.size() == 1 &&
                           left.terms[0].factors[0].kind == DimExpr::Kind::kSymbol &&
                           left.terms[0].factors[0].name == name;
    return is_symbol && right.terms.empty() && right.constant == divisor;
  };
  std::erase_if(sum_.terms,
                [&](const Term& term) { return std::ranges::any_of(term.factors, is_zero); });
  find_steps(steps_.size());
}

bool CompiledExtent::is_linear_in(std::size_t name) const {
  return std::ranges::all_of(sum_.terms, [&](const Term& term) {
    const bool is_symbol =
        term.factors.size() == 1 && term.factors.front().kind == DimExpr::Kind::kSymbol;
    return is_symbol || !depends_on(term, name);
  });
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

// -- several iterations ---------------------------------------------------------------------------

bool CompiledExtent::values(std::span<const std::int64_t> values,
                            std::span<const std::int64_t* const> lists,
                            std::span<std::int64_t> out) const {
  return CompiledExtent::values(sum_, {values, lists}, out);
}

bool CompiledExtent::changes(const Term& term, const Numbers& numbers) {
  for (std::size_t name = 0; name < numbers.lists.size(); ++name) {
    if (numbers.lists[name] != nullptr && depends_on(term, name)) return true;
  }
  return false;
}

bool CompiledExtent::values(const Sum& sum, const Numbers& numbers, std::span<std::int64_t> out) {
  Sum fixed{.constant = sum.constant, .terms = {}};
  for (const Term& term : sum.terms) {
    if (!changes(term, numbers)) fixed.terms.push_back(term);
  }
  const auto start = value(fixed, numbers.values);
  if (!start) return false;
  std::ranges::fill(out, *start);
  return std::ranges::all_of(sum.terms, [&](const Term& term) {
    return !changes(term, numbers) || add_term(term, numbers, out);
  });
}

bool CompiledExtent::add_term(const Term& term, const Numbers& numbers,
                              std::span<std::int64_t> out) {
  std::vector<std::int64_t> product(out.size(), term.coefficient), factor(out.size());
  bool is_beyond = false;
  for (const Factor& each : term.factors) {
    if (!values(each, numbers, factor)) return false;
    for (std::size_t i = 0; i < out.size(); ++i) {
      is_beyond |= __builtin_mul_overflow(product[i], factor[i], &product[i]);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    is_beyond |= __builtin_add_overflow(out[i], product[i], &out[i]);
  }
  return !is_beyond;
}

bool CompiledExtent::values(const Factor& factor, const Numbers& numbers,
                            std::span<std::int64_t> out) {
  if (factor.kind == DimExpr::Kind::kSymbol) {
    const std::int64_t* const list = numbers.lists[factor.name];
    if (list == nullptr) {
      std::ranges::fill(out, numbers.values[factor.name]);
    } else {
      std::copy_n(list, out.size(), out.begin());
    }
    return true;
  }
  if (!values(*factor.left, numbers, out)) return false;
  if (factor.kind == DimExpr::Kind::kMaximum) {
    for (std::int64_t& each : out) each = std::max<std::int64_t>(each, 0);
    return true;
  }
  std::vector<std::int64_t> divisor(out.size());
  if (!values(*factor.right, numbers, divisor)) return false;
  if (factor.right->terms.empty() && factor.right->constant > 0 &&
      std::has_single_bit(static_cast<std::uint64_t>(factor.right->constant))) {
    const int shift = std::countr_zero(static_cast<std::uint64_t>(factor.right->constant));
    for (std::int64_t& each : out) each >>= shift;
    return true;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto quotient = floor_quotient(out[i], divisor[i]);
    if (!quotient) return false;
    out[i] = *quotient;
  }
  return true;
}

}  // namespace mir

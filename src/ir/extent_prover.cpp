// Proves or refutes conditions on extents by bounds and by trying values.
#include "ir/extent_prover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "extents/extent_range.hpp"
#include "mir/context.hpp"

namespace mir {

namespace {

using Replacements = std::vector<std::pair<Symbol, Dim>>;

Polynomial polynomial_of(Dim dim) {
  return dim.is_constant() ? constant_polynomial(dim.constant()) : mir::polynomial_of(dim.expr());
}

// -- bounds ---------------------------------------------------------------------------------------

/// Looks for lower bounds of sums of whole numbers, where each symbol is in the range that a
/// function gives. After a number of attempts it finds no more.
class BoundSearch {
 public:
  explicit BoundSearch(const SymbolRangeFn& range) : range_(range) {}

  /// True if `sum >= -slack` was found. So many quotients and maxima are replaced by their bounds.
  bool is_bounded_below(const Polynomial& sum, std::int64_t slack = 0, int replaced = 4) {
    if (attempts_left_ == 0) return false;
    --attempts_left_;
    const auto found = range_of(sum, range_);
    if (found && found->has_least() && found->least >= -slack) return true;
    if (replaced == 0) return false;
    return std::ranges::any_of(sum.terms, [&](const DimTerm& term) {
      return is_bounded_without(term, sum, slack, replaced);
    });
  }

 private:
  /// Proves the bound with a maximum of x and 0 in `term` replaced by one of the two. If it is
  /// subtracted, both must be bounded; otherwise one suffices, because either is at most the
  /// maximum.
  bool is_bounded_in_cases(const DimTerm& term, const Polynomial& sum, std::int64_t slack,
                           int replaced) {
    Polynomial own;
    own.terms.push_back(term);
    const auto without = subtract(sum, own);
    const auto value = multiply(term.factors[0]->left, constant_polynomial(term.coefficient));
    const auto with = without && value ? add(*without, *value) : std::nullopt;
    if (!with) return false;
    const auto is_bounded = [&](const Polynomial& each) {
      return is_bounded_below(each, slack, replaced - 1);
    };
    return term.coefficient < 0 ? is_bounded(*without) && is_bounded(*with)
                                : is_bounded(*without) || is_bounded(*with);
  }

  /// Proves the bound with a quotient [x / c] in `term` replaced by (x - r) / c, where r is 0 to c
  /// - 1: then c * sum >= -c * (slack + 1) + 1.
  bool is_bounded_without(const DimTerm& term, const Polynomial& sum, std::int64_t slack,
                          int replaced) {
    if (term.factors.size() != 1) return false;
    const DimExpr& quotient = *term.factors[0];
    if (quotient.kind == DimExpr::Kind::kMaximum) {
      return is_bounded_in_cases(term, sum, slack, replaced);
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
    return all && remainders && bound && is_bounded_below(*all, *bound - 1, replaced - 1);
  }

  const SymbolRangeFn& range_;
  std::size_t attempts_left_ = 2000;
};

// -- values ---------------------------------------------------------------------------------------

bool divides_by_zero(const DimExpr& expr, const DimBindings& values);

bool divides_by_zero(const Polynomial& sum, const DimBindings& values) {
  return std::ranges::any_of(sum.terms, [&](const DimTerm& term) {
    return std::ranges::any_of(
        term.factors, [&](const DimExpr* factor) { return divides_by_zero(*factor, values); });
  });
}

bool divides_by_zero(const DimExpr& expr, const DimBindings& values) {
  if (expr.kind == DimExpr::Kind::kSum || expr.kind == DimExpr::Kind::kMaximum) {
    return divides_by_zero(expr.left, values);
  }
  if (expr.kind != DimExpr::Kind::kQuotient) return false;
  if (divides_by_zero(expr.left, values) || divides_by_zero(expr.right, values)) return true;
  if (expr.right.is_constant()) return expr.right.constant == 0;
  std::int64_t divisor = expr.right.constant;
  for (const DimTerm& term : expr.right.terms) {
    std::optional<std::int64_t> product = term.coefficient;
    for (const DimExpr* factor : term.factors) {
      const auto value = evaluate(*factor, values);
      product = product && value ? checked_multiply(*product, *value) : std::nullopt;
    }
    const auto sum = product ? checked_add(divisor, *product) : product;
    if (!sum) return false;
    divisor = *sum;
  }
  return divisor == 0;
}

constexpr std::int64_t kManyValues = 4096;  // of the only symbol
constexpr std::int64_t kNearValues = 16;    // above the least one, of each of several symbols

/// Factors of a symbol that are likely to break a condition, in ascending order.
std::vector<std::int64_t> telling_factors(std::int64_t first, std::int64_t last, bool is_alone,
                                          std::size_t most) {
  std::set<std::int64_t> found;
  const auto offer = [&](std::int64_t value) {
    if (value >= first && value <= last) found.insert(value);
  };
  const std::int64_t near = is_alone ? kManyValues : kNearValues;
  for (std::int64_t i = 0; i < near && i <= last - first; ++i) found.insert(first + i);
  if (last != SymbolDeclaration::kUnbounded) {
    offer(last);
    offer(last - 1);
  }
  constexpr int kLargestPower = 20;
  for (int power = 2; power <= kLargestPower; ++power) {
    const std::int64_t value = std::int64_t{1} << power;
    for (const std::int64_t each : {value - 1, value, value + 1}) offer(each);
  }
  std::vector<std::int64_t> factors(found.begin(), found.end());
  if (factors.size() <= most) return factors;
  // The smallest values and the last one.
  factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(most) - 1, factors.end() - 1);
  return factors;
}

/// Visits all combinations of values, the last symbol fastest, as long as `visit` returns true.
template <class Visit>
void for_each_combination(std::span<const std::vector<std::int64_t>> values, const Visit& visit) {
  std::vector<std::size_t> at(values.size());
  for (;;) {
    if (!visit(at)) return;
    std::size_t i = at.size();
    while (i > 0 && ++at[i - 1] == values[i - 1].size()) at[--i] = 0;
    if (i == 0) return;
  }
}

std::int64_t total_of(const DimBindings& values) {
  std::int64_t sum = 0;
  for (const auto& [symbol, value] : values.entries()) {
    sum = checked_add(sum, value).value_or(SymbolDeclaration::kUnbounded);
  }
  return sum;
}

}  // namespace

ExtentProver::ExtentProver(IRContext& context, SymbolDeclarations declarations)
    : context_(context), declarations_(std::move(declarations)) {}

std::optional<ExtentProver> ExtentProver::of(const Module& module) {
  auto declarations = symbol_declarations(module);
  if (declarations.empty()) return std::nullopt;
  return ExtentProver(module.context(), std::move(declarations));
}

// -- expressions ----------------------------------------------------------------------------------

ExtentProver::Variables ExtentProver::variables_of(Dim a, Dim b) const {
  const auto of_a = context_.dims().symbols(a);
  std::vector<Symbol> names(of_a.begin(), of_a.end());
  for (const Symbol name : context_.dims().symbols(b)) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::ranges::sort(names, {}, [&](Symbol name) { return context_.text(name); });
  Variables variables;
  for (const Symbol name : names) {
    const SymbolDeclaration* declared = declarations_.find(name);
    Variable variable{.declaration =
                          declared == nullptr ? SymbolDeclaration{.name = name} : *declared};
    variable.first = variable.declaration.first_factor();
    variable.last = variable.declaration.last_factor();
    variables.push_back(variable);
  }
  return variables;
}

Dim ExtentProver::replaced(Dim dim, const Replacements& values) const {
  if (!dim.is_symbolic()) return dim;
  return context_.dims().substitute(dim, [&](Symbol name) -> std::optional<Dim> {
    const auto found = std::ranges::find(values, name, &std::pair<Symbol, Dim>::first);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

Dim ExtentProver::replaced(const Polynomial& sum, const Replacements& values) const {
  DimTable& dims = context_.dims();
  Dim total(sum.constant);
  for (const DimTerm& term : sum.terms) {
    Dim product(term.coefficient);
    for (const DimExpr* factor : term.factors) {
      const auto extent = dims.parse(factor->text);
      product = dims.multiply(product, extent ? replaced(*extent, values) : Dim::unknown());
    }
    total = dims.add(total, product);
  }
  return total;
}

Dim ExtentProver::in_factors(Dim dim, const Variables& variables) const {
  DimTable& dims = context_.dims();
  Replacements values;
  for (const auto& [declaration, first, last] : variables) {
    if (declaration.multiple == 1) continue;
    const Dim symbol = dims.symbol(context_.text(declaration.name));
    values.emplace_back(declaration.name, dims.multiply(Dim(declaration.multiple), symbol));
  }
  return values.empty() ? dim : replaced(dim, values);
}

// -- proofs ---------------------------------------------------------------------------------------

/// In distances from one end of each range: all combinations of ends, as far as they are few.
bool ExtentProver::is_at_least(Dim a, Dim b, const Variables& variables) {
  DimTable& dims = context_.dims();
  const Dim difference = dims.subtract(a, b);
  if (difference.is_unknown()) return false;
  if (difference.is_constant()) return difference.constant() >= 0;
  constexpr std::size_t kMostVariables = 4;
  const std::size_t shifts =
      variables.size() <= kMostVariables ? std::size_t{1} << variables.size() : 1;
  const SymbolRangeFn range = [&](Symbol name) -> ExtentRange {
    for (const Variable& each : variables) {
      if (each.declaration.name != name) continue;
      return {0, each.is_bounded() ? each.last - each.first : ExtentRange().most};
    }
    return {0, ExtentRange().most};
  };
  BoundSearch search(range);
  for (std::size_t shift = 0; shift < shifts; ++shift) {
    Replacements values;
    bool is_possible = true;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const auto& [declaration, first, last] = variables[i];
      const Dim symbol = dims.symbol(context_.text(declaration.name));
      const bool from_last = (shift >> i & 1) != 0;
      is_possible = is_possible && (!from_last || variables[i].is_bounded());
      values.emplace_back(declaration.name, from_last ? dims.subtract(Dim(last), symbol)
                                                      : dims.add(Dim(first), symbol));
    }
    if (!is_possible) continue;
    const Dim shifted = replaced(difference, values);
    if (shifted.is_unknown()) continue;
    if (search.is_bounded_below(polynomial_of(shifted))) return true;
  }
  return false;
}

bool ExtentProver::is_equal(Dim a, Dim b, const Variables& variables) {
  if (a == b) return true;
  const Dim difference = context_.dims().subtract(a, b);
  if (difference.is_constant()) return difference.constant() == 0;
  return is_at_least(a, b, variables) && is_at_least(b, a, variables);
}

bool ExtentProver::is_divisible(Dim a, Dim b, const Variables& variables) {
  DimTable& dims = context_.dims();
  if (b.is_constant() && b.constant() != 0) {
    const Polynomial sum = polynomial_of(a);
    const auto is_multiple = [&](std::int64_t value) {
      return floor_remainder(value, b.constant()) == 0;
    };
    const auto has_multiple = [&](const DimTerm& term) { return is_multiple(term.coefficient); };
    if (is_multiple(sum.constant) && std::ranges::all_of(sum.terms, has_multiple)) return true;
  }
  const Dim quotient = dims.floor_divide(a, b);
  return dims.multiply(quotient, b) == a && is_at_least(b, Dim(1), variables);
}

bool ExtentProver::is_defined(const Polynomial& sum, const Variables& variables) {
  for (const DimTerm& term : sum.terms) {
    for (const DimExpr* factor : term.factors) {
      if (factor->kind == DimExpr::Kind::kMaximum && !is_defined(factor->left, variables)) {
        return false;
      }
      if (factor->kind != DimExpr::Kind::kQuotient) continue;
      const Dim divisor = in_factors(replaced(factor->right, {}), variables);
      const bool is_positive = !divisor.is_unknown() && is_at_least(divisor, Dim(1), variables);
      const bool is_negative =
          !divisor.is_unknown() && !is_positive && is_at_least(Dim(-1), divisor, variables);
      if (!is_positive && !is_negative) return false;
      if (!is_defined(factor->left, variables) || !is_defined(factor->right, variables))
        return false;
    }
  }
  return true;
}

bool ExtentProver::holds_by_form(ExtentRelation relation, Dim a, Dim b,
                                 const Variables& variables) {
  if (relation == ExtentRelation::kDefined) return is_defined(polynomial_of(a), variables);
  a = in_factors(a, variables);
  b = in_factors(b, variables);
  if (a.is_unknown() || b.is_unknown()) return false;
  switch (relation) {
    case ExtentRelation::kEqual:
      return is_equal(a, b, variables);
    case ExtentRelation::kAtLeast:
      return is_at_least(a, b, variables);
    case ExtentRelation::kDivides:
      return is_divisible(a, b, variables);
    case ExtentRelation::kEqualOrOne:
      return is_equal(a, Dim(1), variables) || is_equal(a, b, variables);
    case ExtentRelation::kBroadcasts:
      return is_equal(a, Dim(1), variables) || is_equal(b, Dim(1), variables) ||
             is_equal(a, b, variables);
    case ExtentRelation::kDefined:
      break;
  }
  return false;
}

// -- search ---------------------------------------------------------------------------------------

std::optional<bool> ExtentProver::holds(ExtentRelation relation, Dim a, Dim b,
                                        const DimBindings& values) const {
  if (relation == ExtentRelation::kDefined) {
    return a.is_constant() || !divides_by_zero(*a.expr(), values);
  }
  const auto left = context_.dims().evaluate(a, values),
             right = context_.dims().evaluate(b, values);
  if (!left || !right) return std::nullopt;
  switch (relation) {
    case ExtentRelation::kEqual:
      return *left == *right;
    case ExtentRelation::kAtLeast:
      return *left >= *right;
    case ExtentRelation::kDivides:
      return *right != 0 && floor_remainder(*left, *right) == 0;
    case ExtentRelation::kEqualOrOne:
      return *left == *right || *left == 1;
    case ExtentRelation::kBroadcasts:
      return *left == *right || *left == 1 || *right == 1;
    case ExtentRelation::kDefined:
      break;
  }
  return std::nullopt;
}

ExtentProof ExtentProver::try_all(ExtentRelation relation, Dim a, Dim b,
                                  const Variables& variables) const {
  std::vector<std::vector<std::int64_t>> values;
  for (const auto& [declaration, first, last] : variables) {
    std::vector<std::int64_t>& list = values.emplace_back();
    for (std::int64_t i = first; i <= last; ++i) list.push_back(i * declaration.multiple);
  }
  ExtentProof proof{.verdict = ExtentVerdict::kProved};
  bool is_known = true;
  for_each_combination(values, [&](std::span<const std::size_t> at) {
    DimBindings each;
    for (std::size_t i = 0; i < at.size(); ++i)
      each.bind(variables[i].declaration.name, values[i][at[i]]);
    const auto truth = holds(relation, a, b, each);
    is_known = is_known && truth;
    if (truth.value_or(true)) return true;
    const bool is_first = proof.verdict != ExtentVerdict::kRefuted;
    if (is_first || total_of(each) < total_of(proof.counterexample)) {
      proof = {ExtentVerdict::kRefuted, std::move(each)};
    }
    return true;
  });
  if (proof.verdict == ExtentVerdict::kProved && !is_known)
    proof.verdict = ExtentVerdict::kUndecided;
  return proof;
}

ExtentProof ExtentProver::try_some(ExtentRelation relation, Dim a, Dim b,
                                   const Variables& variables) const {
  std::size_t each_most = static_cast<std::size_t>(kMostTrials);
  for (std::size_t most = 2; variables.size() > 1; ++most) {
    std::int64_t trials = 1;
    for (std::size_t i = 0; i < variables.size() && trials <= kMostTrials; ++i) {
      trials *= static_cast<std::int64_t>(most);
    }
    if (trials > kMostTrials) {
      each_most = most - 1;
      break;
    }
  }
  std::vector<std::vector<std::int64_t>> values;
  for (const auto& [declaration, first, last] : variables) {
    auto factors = telling_factors(first, last, variables.size() == 1, each_most);
    std::vector<std::int64_t>& list = values.emplace_back();
    for (const std::int64_t factor : factors) {
      const auto value = checked_multiply(factor, declaration.multiple);
      if (value) list.push_back(*value);
    }
    if (list.empty()) return {};
  }
  ExtentProof proof;
  std::int64_t trials = 0;
  for_each_combination(values, [&](std::span<const std::size_t> at) {
    DimBindings each;
    for (std::size_t i = 0; i < at.size(); ++i)
      each.bind(variables[i].declaration.name, values[i][at[i]]);
    if (!holds(relation, a, b, each).value_or(true)) {
      const bool is_first = proof.verdict != ExtentVerdict::kRefuted;
      if (is_first || total_of(each) < total_of(proof.counterexample)) {
        proof = {ExtentVerdict::kRefuted, std::move(each)};
      }
    }
    return ++trials < kMostTrials;
  });
  return proof;
}

ExtentProof ExtentProver::search(ExtentRelation relation, Dim a, Dim b,
                                 const Variables& variables) const {
  std::int64_t combinations = 1;
  for (const Variable& each : variables) {
    const auto count =
        each.is_bounded() ? checked_subtract(each.last, each.first - 1) : std::nullopt;
    const auto product = count ? checked_multiply(combinations, *count) : count;
    if (!product || *product > kMostTrials) return try_some(relation, a, b, variables);
    combinations = *product;
  }
  return try_all(relation, a, b, variables);
}

ExtentProof ExtentProver::decide(ExtentRelation relation, Dim a, Dim b) {
  const Variables variables = variables_of(a, b);
  if (holds_by_form(relation, a, b, variables)) return {.verdict = ExtentVerdict::kProved};
  ExtentProof proof = search(relation, a, b, variables);
  // The others are errors where they are not proved, and a counterexample says more.
  const bool is_bound =
      relation == ExtentRelation::kAtLeast || relation == ExtentRelation::kDefined;
  if (proof.verdict == ExtentVerdict::kRefuted && is_bound && !are_declared(variables)) return {};
  return proof;
}

bool ExtentProver::are_declared(const Variables& variables) const {
  return std::ranges::all_of(variables, [&](const Variable& each) {
    return declarations_.find(each.declaration.name) != nullptr;
  });
}

bool ExtentProver::holds_always(IRContext& context, ExtentRelation relation, Dim a, Dim b) {
  ExtentProver prover(context, {});
  return prover.holds_by_form(relation, a, b, prover.variables_of(a, b));
}

ExtentVerdict ExtentProver::admits(const SymbolDeclaration& declaration, Dim extent) {
  if (extent.is_unknown()) return ExtentVerdict::kUndecided;
  ExtentVerdict all = ExtentVerdict::kProved;
  const auto require = [&](ExtentRelation relation, Dim a, Dim b) {
    const ExtentVerdict one = prove(relation, a, b).verdict;
    if (one != ExtentVerdict::kProved && all != ExtentVerdict::kRefuted) all = one;
  };
  require(ExtentRelation::kAtLeast, extent, Dim(declaration.least));
  if (declaration.most != SymbolDeclaration::kUnbounded) {
    require(ExtentRelation::kAtLeast, Dim(declaration.most), extent);
  }
  if (declaration.multiple != 1) {
    require(ExtentRelation::kDivides, extent, Dim(declaration.multiple));
  }
  // Which values a run admits for a symbol without a declaration is not stated.
  const bool is_open = all == ExtentVerdict::kRefuted && !are_declared(variables_of(extent, Dim()));
  return is_open ? ExtentVerdict::kUndecided : all;
}

const ExtentProof& ExtentProver::prove(ExtentRelation relation, Dim a, Dim b) {
  const auto constant = [](Dim dim) { return dim.is_constant() ? dim.constant() : 0; };
  const auto [found, is_new] =
      proofs_.try_emplace(Goal(relation, a.expr(), constant(a), b.expr(), constant(b)));
  if (is_new) found->second = decide(relation, a, b);
  return found->second;
}

bool ExtentProver::agree(const Type* a, const Type* b) {
  if (compatible(a, b)) return true;
  const auto* left = dyn_cast<TensorType>(a);
  const auto* right = dyn_cast<TensorType>(b);
  if (left == nullptr || right == nullptr || left->rank() != right->rank() ||
      left->dtype_name() != right->dtype_name() || left->device() != right->device() ||
      left->encoding() != right->encoding()) {
    return false;
  }
  return std::ranges::equal(left->dims(), right->dims(), [&](Dim x, Dim y) {
    return compatible(x, y) || is_proved(ExtentRelation::kEqual, x, y);
  });
}

// -- text -----------------------------------------------------------------------------------------

std::string ExtentProver::counterexample_text(const ExtentProof& proof, Dim a, Dim b) const {
  std::string text;
  for (const auto& [symbol, value] : proof.counterexample.entries()) {
    text += fmt::format("{}${} = {}", text.empty() ? "" : ", ", context_.text(symbol), value);
  }
  const auto left = context_.dims().evaluate(a, proof.counterexample);
  const auto right = context_.dims().evaluate(b, proof.counterexample);
  if (!left || !right) return text + " divides by 0";
  if (a.is_constant() || b.is_constant()) {
    const Dim symbolic = a.is_constant() ? b : a;
    return fmt::format("{} makes {} {}", text, context_.dims().print(symbolic),
                       a.is_constant() ? *right : *left);
  }
  return fmt::format("{} makes them {} and {}", text, *left, *right);
}

std::string ExtentProver::text(ExtentRelation relation, Dim a, Dim b) const {
  const std::string left = context_.dims().print(a), right = context_.dims().print(b);
  switch (relation) {
    case ExtentRelation::kEqual:
      return fmt::format("{} = {}", left, right);
    case ExtentRelation::kAtLeast:
      return fmt::format("{} >= {}", left, right);
    case ExtentRelation::kDivides:
      return fmt::format("{} divides {}", right, left);
    case ExtentRelation::kEqualOrOne:
      return fmt::format("{} is 1 or {}", left, right);
    case ExtentRelation::kBroadcasts:
      return fmt::format("{} = {}, or one of them is 1", left, right);
    case ExtentRelation::kDefined:
      return fmt::format("{} divides by no 0", left);
  }
  return {};
}

void ExtentProver::note_undecided(std::string condition) {
  if (std::ranges::find(undecided_, condition) == undecided_.end()) {
    undecided_.push_back(std::move(condition));
  }
}

}  // namespace mir

// Proves or refutes conditions on extents by bounds and by trying values.
#include "ir/extent_prover.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/extent_bounds.hpp"
#include "ir/extent_search.hpp"
#include "mir/context.hpp"

namespace mir {

namespace {

Polynomial polynomial_of(Dim dim) {
  return dim.is_constant() ? constant_polynomial(dim.constant()) : mir::polynomial_of(dim.expr());
}

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

}  // namespace

ExtentProver::ExtentProver(IRContext& context, SymbolDeclarations declarations)
    : context_(context), declarations_(std::move(declarations)) {}

std::optional<ExtentProver> ExtentProver::of(const Module& module) {
  auto declarations = symbol_declarations(module);
  if (declarations.empty()) return std::nullopt;
  return ExtentProver(module.context(), std::move(declarations));
}

// -- expressions ----------------------------------------------------------------------------------

std::vector<Symbol> ExtentProver::symbols_of(Dim a, Dim b) const {
  return SymbolRelation{.left = a, .right = b}.symbols(context_.dims());
}

ExtentVariables ExtentProver::variables_of(std::vector<Symbol> symbols) const {
  std::ranges::sort(symbols, {}, [&](Symbol name) { return context_.text(name); });
  ExtentVariables variables;
  for (const Symbol name : symbols) {
    const SymbolDeclaration* declared = declarations_.find(name);
    ExtentVariable variable{.declaration =
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

Dim ExtentProver::in_factors(Dim dim, const Problem& problem) const {
  DimTable& dims = context_.dims();
  Replacements values;
  for (const auto& [declaration, first, last] : problem.variables) {
    if (declaration.multiple == 1) continue;
    const Dim symbol = dims.symbol(context_.text(declaration.name));
    values.emplace_back(declaration.name, dims.multiply(Dim(declaration.multiple), symbol));
  }
  if (!problem.solved.empty()) dim = replaced(dim, problem.solved);
  return values.empty() ? dim : replaced(dim, values);
}

// -- proofs ---------------------------------------------------------------------------------------

/// In distances from one end of each range: all combinations of ends, as far as they are few.
bool ExtentProver::is_at_least(Dim a, Dim b, const Problem& problem) const {
  DimTable& dims = context_.dims();
  const ExtentVariables& variables = problem.variables;
  const Dim difference = dims.subtract(a, b);
  if (difference.is_unknown()) return false;
  if (difference.is_constant()) return difference.constant() >= 0;
  constexpr std::size_t kMostVariables = 4;
  const std::size_t shifts =
      variables.size() <= kMostVariables ? std::size_t{1} << variables.size() : 1;
  const SymbolRangeFn range = [&](Symbol name) -> ExtentRange {
    for (const ExtentVariable& each : variables) {
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
    std::vector<Polynomial> facts;
    for (const Dim each : problem.facts) {
      const Dim fact = replaced(each, values);
      if (fact.is_symbolic()) facts.push_back(polynomial_of(fact));
    }
    search.know(std::move(facts));
    if (search.is_bounded_below(polynomial_of(shifted))) return true;
  }
  return false;
}

bool ExtentProver::is_equal(Dim a, Dim b, const Problem& problem) const {
  if (a == b) return true;
  const Dim difference = context_.dims().subtract(a, b);
  if (difference.is_constant()) return difference.constant() == 0;
  return is_at_least(a, b, problem) && is_at_least(b, a, problem);
}

bool ExtentProver::is_divisible(Dim a, Dim b, const Problem& problem) const {
  DimTable& dims = context_.dims();
  if (b.is_constant() && b.constant() != 0) {
    const Polynomial sum = polynomial_of(a);
    const auto is_multiple = [&](std::int64_t value) {
      return floor_remainder(value, b.constant()) == 0;
    };
    const auto has_multiple = [&](const DimTerm& term) { return is_multiple(term.coefficient); };
    if (is_multiple(sum.constant) && std::ranges::all_of(sum.terms, has_multiple)) return true;
  }
  const Dim product = dims.multiply(dims.floor_divide(a, b), b);
  return !product.is_unknown() && is_equal(product, a, problem) && is_at_least(b, Dim(1), problem);
}

bool ExtentProver::is_defined(const Polynomial& sum, const Problem& problem) const {
  for (const DimTerm& term : sum.terms) {
    for (const DimExpr* factor : term.factors) {
      if (factor->kind == DimExpr::Kind::kMaximum && !is_defined(factor->left, problem)) {
        return false;
      }
      if (factor->kind != DimExpr::Kind::kQuotient) continue;
      const Dim divisor = in_factors(replaced(factor->right, {}), problem);
      const bool is_positive = !divisor.is_unknown() && is_at_least(divisor, Dim(1), problem);
      const bool is_negative =
          !divisor.is_unknown() && !is_positive && is_at_least(Dim(-1), divisor, problem);
      if (!is_positive && !is_negative) return false;
      if (!is_defined(factor->left, problem) || !is_defined(factor->right, problem)) return false;
    }
  }
  return true;
}

bool ExtentProver::holds_by_form(ExtentRelation relation, Dim a, Dim b,
                                 const Problem& problem) const {
  if (relation == ExtentRelation::kDefined) return is_defined(polynomial_of(a), problem);
  a = in_factors(a, problem);
  b = in_factors(b, problem);
  if (a.is_unknown() || b.is_unknown()) return false;
  switch (relation) {
    case ExtentRelation::kEqual:
      return is_equal(a, b, problem);
    case ExtentRelation::kAtLeast:
      return is_at_least(a, b, problem);
    case ExtentRelation::kDivides:
      return is_divisible(a, b, problem);
    case ExtentRelation::kEqualOrOne:
      return is_equal(a, Dim(1), problem) || is_equal(a, b, problem);
    case ExtentRelation::kBroadcasts:
      return is_equal(a, Dim(1), problem) || is_equal(b, Dim(1), problem) ||
             is_equal(a, b, problem);
    case ExtentRelation::kDefined:
      break;
  }
  return false;
}

// -- values ---------------------------------------------------------------------------------------

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

bool ExtentProver::satisfy(std::span<const SymbolRelation* const> relations,
                           const DimBindings& values) const {
  return std::ranges::all_of(relations, [&](const SymbolRelation* each) {
    return each->holds(context_.dims(), values).value_or(true);
  });
}

ExtentProof ExtentProver::search(ExtentRelation relation, Dim a, Dim b,
                                 const std::vector<Symbol>& symbols,
                                 std::span<const SymbolRelation* const> relations) const {
  const ExtentVariables variables = variables_of(symbols);
  return search_values(
      {.variables = variables,
       .admits = [&](const DimBindings& values) { return satisfy(relations, values); },
       .holds = [&](const DimBindings& values) { return holds(relation, a, b, values); }});
}

/// Tries to prove it without relations first, so that an added relation never loses a proof.
ExtentProof ExtentProver::decide(ExtentRelation relation, Dim a, Dim b) {
  const std::vector<Symbol> symbols = symbols_of(a, b);
  if (holds_by_form(relation, a, b, {variables_of(symbols)})) {
    return {.verdict = ExtentVerdict::kProved};
  }
  const Problem problem = problem_of(symbols);
  if (!problem.relations.empty() && holds_by_form(relation, a, b, problem)) {
    return {.verdict = ExtentVerdict::kProved};
  }
  ExtentProof proof = search(relation, a, b, symbols, problem.relations);
  if (proof.verdict == ExtentVerdict::kRefuted && !problem.relations.empty()) {
    // The counterexample may lack values of symbols to which relations extend.
    std::vector<Symbol> all = symbols;
    relations_of(all);
    if (all.size() > symbols.size()) proof = search(relation, a, b, all, problem.relations);
  }
  // The others are errors where they are not proved, and a counterexample says more.
  const bool is_bound =
      relation == ExtentRelation::kAtLeast || relation == ExtentRelation::kDefined;
  if (proof.verdict == ExtentVerdict::kRefuted && is_bound && !are_declared(symbols)) return {};
  return proof;
}

bool ExtentProver::are_declared(std::span<const Symbol> symbols) const {
  return std::ranges::all_of(symbols,
                             [&](Symbol each) { return declarations_.find(each) != nullptr; });
}

bool ExtentProver::holds_always(IRContext& context, ExtentRelation relation, Dim a, Dim b) {
  ExtentProver prover(context, {});
  return prover.holds_by_form(relation, a, b, {prover.variables_of(prover.symbols_of(a, b))});
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
  const bool is_open = all == ExtentVerdict::kRefuted && !are_declared(symbols_of(extent, Dim()));
  return is_open ? ExtentVerdict::kUndecided : all;
}

ExtentVerdict ExtentProver::admits(const SymbolRelation& relation,
                                   std::span<const std::pair<Symbol, Dim>> passed) {
  bool is_known = true;
  const auto replaced = relation.substitute(context_.dims(), [&](Symbol symbol) {
    const auto found = std::ranges::find(passed, symbol, &std::pair<Symbol, Dim>::first);
    is_known = is_known && found != passed.end();
    return found == passed.end() ? std::nullopt : std::optional(found->second);
  });
  if (!replaced || !is_known) return ExtentVerdict::kUndecided;
  const auto kind = relation.is_equation() ? ExtentRelation::kEqual : ExtentRelation::kAtLeast;
  const ExtentVerdict verdict = prove(kind, replaced->margin, Dim()).verdict;
  const bool is_open =
      verdict == ExtentVerdict::kRefuted && !are_declared(replaced->symbols(context_.dims()));
  return is_open ? ExtentVerdict::kUndecided : verdict;
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

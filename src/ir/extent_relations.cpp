// Derives replacements, ranges and facts for a proof from relations between symbols.
#include <algorithm>
#include <utility>

#include "ir/extent_prover.hpp"
#include "ir/extent_search.hpp"
#include "ir/type_extents.hpp"
#include "mir/context.hpp"

namespace mir {

namespace {

constexpr std::size_t kMostRelations = 16;  // in one proof

ExtentVariable* variable_of(ExtentVariables& variables, Symbol name) {
  const auto found = std::ranges::find_if(
      variables, [&](const ExtentVariable& each) { return each.declaration.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

/// True if a number divides all terms of a sum, but not its constant.
bool is_never_zero(Dim sum) {
  if (!sum.is_symbolic()) return false;
  Polynomial terms = polynomial_of(sum.expr());
  const std::int64_t constant = std::exchange(terms.constant, 0);
  return constant % std::max<std::int64_t>(common_divisor(terms), 1) != 0;
}

bool has_symbol(const DimTable& dims, Dim extent, Symbol symbol) {
  bool has = false;
  for_each_symbol_of(extent, dims, [&](Symbol each) { has = has || each == symbol; });
  return has;
}

}  // namespace

std::vector<const SymbolRelation*> ExtentProver::relations_of(std::vector<Symbol>& symbols) const {
  const SymbolRelations& known = declarations_.relations();
  std::vector<const SymbolRelation*> found;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    for (const std::size_t place : known.places_of(symbols[i])) {
      const SymbolRelation* relation = &known.all()[place];
      if (std::ranges::find(found, relation) != found.end()) continue;
      if (found.size() == kMostRelations) return found;
      found.push_back(relation);
      for (const Symbol each : relation->symbols(context_.dims())) {
        if (std::ranges::find(symbols, each) == symbols.end()) symbols.push_back(each);
      }
    }
  }
  return found;
}

ExtentProver::Problem ExtentProver::problem_of(std::vector<Symbol> symbols) const {
  Problem problem;
  problem.relations = relations_of(symbols);
  problem.variables = variables_of(std::move(symbols));
  if (!problem.relations.empty()) use_relations(problem);
  return problem;
}

void ExtentProver::use_relations(Problem& problem) const {
  const ExtentVariables declared = problem.variables;
  for (const SymbolRelation* each : problem.relations) solve(problem, *each);
  std::vector<Dim> facts;
  for (const SymbolRelation* each : problem.relations) {
    facts.push_back(each->margin);
    if (each->is_equation()) facts.push_back(context_.dims().subtract(Dim(), each->margin));
  }
  // Ranges of symbols that are gone. Facts have the symbols of the module up to here.
  for (const ExtentVariable& each : declared) {
    const Symbol name = each.declaration.name;
    if (std::ranges::find(problem.solved, name, &std::pair<Symbol, Dim>::first) !=
        problem.solved.end()) {
      add_range(facts, each.declaration);
    }
  }
  for (const Dim each : facts) {
    const Dim fact = in_factors(each, problem);
    if (fact.is_symbolic()) problem.facts.push_back(fact);
  }
}

void ExtentProver::add_range(std::vector<Dim>& facts, const SymbolDeclaration& declaration) const {
  DimTable& dims = context_.dims();
  const Dim symbol = dims.symbol(context_.text(declaration.name));
  const auto end = [&](std::int64_t factor) {
    return dims.multiply(Dim(factor), Dim(declaration.multiple));
  };
  facts.push_back(dims.subtract(symbol, end(declaration.first_factor())));
  if (declaration.most != SymbolDeclaration::kUnbounded) {
    facts.push_back(dims.subtract(end(declaration.last_factor()), symbol));
  }
  if (declaration.multiple != 1) {
    const Dim remainder = dims.modulo(symbol, Dim(declaration.multiple));
    facts.push_back(dims.subtract(Dim(), remainder));
  }
}

/// An equation that is the remainder of a division, or that has a symbol alone on one side.
void ExtentProver::solve(Problem& problem, const SymbolRelation& relation) const {
  if (!relation.is_equation()) return;
  DimTable& dims = context_.dims();
  for (const DimTerm& term : relation.margin.is_symbolic()
                                 ? polynomial_of(relation.margin.expr()).terms
                                 : std::vector<DimTerm>()) {
    for (const DimExpr* factor : term.factors) {
      if (factor->kind != DimExpr::Kind::kQuotient) continue;
      const Dim dividend = replaced(factor->left, {}), divisor = replaced(factor->right, {});
      if (dims.modulo(dividend, divisor) != relation.margin) continue;
      return solve_division(problem, dividend, divisor);
    }
  }
  const Dim left = replaced(relation.left, problem.solved);
  const Dim right = replaced(relation.right, problem.solved);
  for (const auto& [side, other] : {std::pair(left, right), std::pair(right, left)}) {
    const Symbol symbol = symbol_alone(side);
    if (!symbol || other.is_unknown() || has_symbol(dims, other, symbol)) continue;
    return solve_equation(problem, symbol, other);
  }
}

/// Replaces a symbol, or the factor that stands for it, in what was solved before.
void ExtentProver::replace_in_solved(Problem& problem, Symbol symbol, Dim value) const {
  bool is_solved = false;
  for (auto& [name, known] : problem.solved) {
    known = replaced(known, {{symbol, value}});
    is_solved = is_solved || name == symbol;
  }
  if (!is_solved) problem.solved.emplace_back(symbol, value);
}

void ExtentProver::solve_equation(Problem& problem, Symbol symbol, Dim value) const {
  if (variable_of(problem.variables, symbol) == nullptr) return;
  replace_in_solved(problem, symbol, value);
  std::erase_if(problem.variables,
                [&](const ExtentVariable& each) { return each.declaration.name == symbol; });
}

/// A dividend that is a symbol is a new symbol times the divisor, which is not 0.
void ExtentProver::solve_division(Problem& problem, Dim dividend, Dim divisor) const {
  DimTable& dims = context_.dims();
  const auto values_of = [&](Dim extent) -> std::int64_t {
    if (extent.is_constant()) return std::max<std::int64_t>(extent.constant(), 1);
    ExtentVariable* const found = variable_of(problem.variables, symbol_alone(extent));
    if (found == nullptr) return 1;
    found->first = std::max<std::int64_t>(found->first, 1);
    return found->first * found->declaration.multiple;
  };
  const std::int64_t least_divisor = values_of(divisor);
  const Symbol symbol = symbol_alone(dividend);
  ExtentVariable* const variable = variable_of(problem.variables, symbol);
  const bool is_solved = std::ranges::find(problem.solved, symbol,
                                           &std::pair<Symbol, Dim>::first) != problem.solved.end();
  const Dim other = replaced(divisor, problem.solved);
  if (!symbol || variable == nullptr || is_solved || variable->declaration.multiple != 1 ||
      other.is_unknown() || has_symbol(dims, other, symbol)) {
    return;
  }
  const Dim product = dims.multiply(other, dims.symbol(context_.text(symbol)));
  if (product.is_unknown()) return;
  replace_in_solved(problem, symbol, product);
  variable->first = std::min<std::int64_t>(variable->first, 1);
  if (variable->is_bounded()) variable->last /= least_divisor;
}

// -- relations that cannot hold -------------------------------------------------------------------

bool ExtentProver::is_impossible(const SymbolRelation& relation, const Problem& problem) const {
  const Dim margin = in_factors(relation.margin, problem);
  if (margin.is_unknown()) return false;
  if (is_at_least(Dim(-1), margin, problem)) return true;
  return relation.is_equation() && (is_at_least(margin, Dim(1), problem) || is_never_zero(margin));
}

bool ExtentProver::is_impossible(const SymbolRelation& relation) const {
  std::vector<Symbol> symbols = relation.symbols(context_.dims());
  if (is_impossible(relation, {variables_of(symbols)})) return true;
  if (is_impossible(relation, problem_of(symbols))) return true;
  std::vector<const SymbolRelation*> relations = relations_of(symbols);
  relations.push_back(&relation);
  const ExtentVariables variables = variables_of(symbols);
  return admits_nothing(
      {.variables = variables,
       .admits = [&](const DimBindings& values) { return satisfy(relations, values); },
       .holds = {}});
}

const SymbolRelation* ExtentProver::impossible_for(const DimBindings& values) const {
  const auto all = declarations_.relations().all();
  const auto found = std::ranges::find_if(all, [&](const SymbolRelation& relation) {
    const auto symbols = relation.symbols(context_.dims());
    const auto has_value = [&](Symbol symbol) { return values.find(symbol).has_value(); };
    if (std::ranges::none_of(symbols, has_value)) return false;
    const auto left = relation.substitute(context_.dims(), [&](Symbol symbol) {
      const auto value = values.find(symbol);
      return value ? std::optional(Dim(*value)) : std::nullopt;
    });
    return !left || is_impossible(*left);  // it divides by 0
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace mir

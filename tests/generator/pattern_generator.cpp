#include "pattern_generator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "pattern_faults.hpp"

namespace mir::test {

namespace {

using enum RewriteClaim::Kind;
using VariableKind = TermVariable::Kind;

const std::array kDomains = {
    TypeDomain{"is_float({})", "T", {"Float32", "Float16", "BFloat16", "Float64"}},
    TypeDomain{"is_integer({})", "T", {"Int8", "Int16", "Int32", "Int64", "UInt8"}},
    TypeDomain{"{} in [Int8, Int16, Int32, Int64]", "T", {"Int8", "Int16", "Int32", "Int64"}},
    TypeDomain{"{} in [Float32, Float64]", "T", {"Float32", "Float64"}},
    TypeDomain{
        "is_float({}) || is_integer({})",
        "T",
        {"Float32", "Float16", "BFloat16", "Float64", "Int8", "Int16", "Int32", "Int64", "UInt8"}},
    TypeDomain{"{} == Float32", "Float32", {"Float32"}},
    TypeDomain{"{} == Float16", "Float16", {"Float16"}},
    TypeDomain{"{} == Float64", "Float64", {"Float64"}},
    TypeDomain{"{} == Int8", "Int8", {"Int8"}},
    TypeDomain{"{} == UInt8", "UInt8", {"UInt8"}},
    TypeDomain{"{} == Int16", "Int16", {"Int16"}},
    TypeDomain{"{} == Int32", "Int32", {"Int32"}},
};
/// All numbers: a domain for patterns whose condition was dropped.
constexpr std::size_t kNumbers = 4;
const TypeDomain kWithoutCondition{"", "T", kDomains[kNumbers].dtypes};

std::size_t op_count(const std::vector<TermPtr>& terms) {
  const TermStyle style{};
  return static_cast<std::size_t>(text_of(terms, style).count);
}

template <class List>
const auto& one_of(const List& list, TermScope& scope) {
  return list[scope.below(std::size(list))];
}

}  // namespace

/// Makes a pattern, step by step.
class PatternMaker {
 public:
  PatternMaker(std::uint64_t seed, std::string name)
      : random_(seed), scope_{.random = random_, .domain = domain()} {
    made_.name_ = std::move(name);
  }

  GeneratedPattern make() {
    while (!try_once()) {
    }
    made_.variables_ = scope_.variables;
    return std::move(made_);
  }

 private:
  const TypeDomain& domain() {
    made_.domain_ = &kDomains[below(random_, kDomains.size())];
    return *made_.domain_;
  }

  bool try_once() {
    scope_.variables.clear();
    made_.rules_.clear();
    made_.claim_ = kBits;
    scope_.is_ranked = made_.is_ranked_ = scope_.one_in(2);
    scope_.is_typed = made_.is_typed_ = made_.is_ranked_ || scope_.one_in(2);
    made_.shares_ = !scope_.one_in(4);
    made_.device_ = scope_.one_in(5) ? "CPU" : "D";
    made_.benefit_ = scope_.one_in(4) ? 2 : 1;
    const std::vector<TermPtr> base = graph();
    if (base.empty()) return false;
    made_.match_ = changed(base, 1 + scope_.below(4));
    made_.rewrite_ = changed(base, scope_.below(3));
    const bool is_shorter = op_count(made_.match_) < op_count(made_.rewrite_);
    if (is_shorter && !scope_.one_in(4)) std::swap(made_.match_, made_.rewrite_);
    made_.counts_users_ = scope_.one_in(4);
    return is_good();
  }

  // -- the graph that both sides compute ----------------------------------------------------------

  std::vector<TermPtr> inputs() {
    static const std::array<TermExtents, 8> kShapes = {
        TermExtents{"$a"},      TermExtents{"$a", "$b"},   TermExtents{"$a", "$b", "$c"},
        TermExtents{"4", "$a"}, TermExtents{"$a", "$a"},   TermExtents{"6"},
        TermExtents{"4", "3"},  TermExtents{"2", "4", "3"}};
    const TermExtents& dims = one_of(kShapes, scope_);
    std::vector<TermPtr> made;
    const std::size_t count = 1 + scope_.below(3);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = fmt::format("x{}", i);
      const std::string dtype(made_.domain_->text);
      if (made_.is_ranked_) {
        made.push_back(input_term(name, dtype, fmt::format("[{}]", fmt::join(dims, ", ")), dims));
      } else {
        made.push_back(input_term(name, dtype, made_.is_typed_ ? "[$n..]" : name, std::nullopt));
      }
    }
    return made;
  }

  TermPtr clip_of(const TermPtr& x) {
    constexpr std::array kLow = {"-5", "-2", "-0.5", "1"}, kHigh = {"1", "2", "6", "2.5"};
    if (!scope_.one_in(3)) {
      return op_term("ClipOp",
                     {{"min_val", one_of(kLow, scope_)}, {"max_val", one_of(kHigh, scope_)}}, {x});
    }
    return op_term("ClipOp",
                   {{"min_val", scope_.new_variable(VariableKind::kNumber)},
                    {"max_val", scope_.new_variable(VariableKind::kNumber)}},
                   {x});
  }

  std::optional<TermPtr> next(const std::vector<TermPtr>& pool) {
    const TermPtr& x = scope_.one_in(3) ? one_of(pool, scope_) : pool.back();
    const TermPtr& y = one_of(pool, scope_);
    const bool is_floating = scope_.is_float(*x);
    switch (scope_.below(11)) {
      case 0:
      case 1:
        return moved(x, scope_);
      case 7: {
        const auto wider = widened(x, scope_);
        if (!wider) return std::nullopt;
        constexpr std::array kOps = {"NegOp", "AbsOp", "ReLUOp"};
        return scope_.one_in(2) ? op_term(one_of(kOps, scope_), {}, {*wider}) : *wider;
      }
      case 2: {
        constexpr std::array kOps = {"NegOp", "AbsOp", "ReLUOp"};
        return op_term(one_of(kOps, scope_), {}, {x});
      }
      case 3:
        return clip_of(x);
      case 4: {
        constexpr std::array kOps = {"SigmoidOp", "ExpOp"};
        if (!is_floating) return std::nullopt;
        const TermPtr s = op_term(one_of(kOps, scope_), {}, {x});
        return scope_.one_in(2) && s->is("SigmoidOp") ? op_term("MulOp", {}, {x, s}) : s;
      }
      case 5: {
        const bool divides = is_floating && scope_.one_in(2);
        const std::string_view number = divides ? "10" : is_floating ? "0.03" : "3";
        return op_term(divides ? "DivOp" : "MulOp", {}, {x, constant_term(std::string(number), x)});
      }
      case 6:
        if (!x->dims || x->shape != y->shape || x->dtype != y->dtype ||
            x->shape.find("-1") != x->shape.npos) {
          return std::nullopt;
        }
        return op_term("ConcatOp", {{"dim", scope_.one_in(2) ? "0" : "-1"}}, {x, y});
      default: {
        constexpr std::array kOps = {"AddOp", "SubOp", "MulOp", "AddOp", "DivOp"};
        const std::string op = one_of(kOps, scope_);
        if (x->dtype != y->dtype) return std::nullopt;
        if (x->shape != y->shape &&
            (made_.is_typed_ || x->kind != Term::Kind::kInput || y->kind != Term::Kind::kInput)) {
          return std::nullopt;
        }
        return op_term(op == "DivOp" && !is_floating ? "SubOp" : op, {}, {x, y});
      }
    }
  }

  /// A graph for the equations that need more than one op.
  TermPtr nested() {
    const std::vector<TermPtr> from = inputs();
    const TermPtr &x = one_of(from, scope_), &y = one_of(from, scope_), &z = one_of(from, scope_);
    const auto made = [](std::string_view op, TermPtr a, TermPtr b) {
      return op_term(std::string(op), {}, {std::move(a), std::move(b)});
    };
    switch (scope_.below(scope_.is_float(*x) ? 8 : 5)) {
      case 0:
        return made("AddOp", made("AddOp", x, y), z);
      case 1:
        return made("MulOp", x, made(scope_.one_in(2) ? "AddOp" : "SubOp", y, z));
      case 2:
        return op_term("NegOp", {}, {made(scope_.one_in(2) ? "AddOp" : "SubOp", x, y)});
      case 3:
        return made("SubOp", x, made("SubOp", y, z));
      case 4:
        return made("AddOp", made("MulOp", x, y), x);
      case 5:
        return made("MulOp", x, op_term("SigmoidOp", {}, {x}));
      case 6:
        return made("MulOp", x, constant_term("0.03", x));
      default:
        return made("DivOp", x, constant_term("10", x));
    }
  }

  std::vector<TermPtr> graph() {
    if (scope_.one_in(4)) {
      const TermPtr term = nested();
      const auto move = scope_.one_in(3) ? moved(term, scope_) : std::nullopt;
      return {move ? *move : term};
    }
    std::vector<TermPtr> pool = inputs();
    const std::size_t first = pool.size(), wanted = first + 1 + scope_.below(4);
    for (int tries = 0; tries < 20 && pool.size() < wanted; ++tries) {
      if (const auto term = next(pool)) pool.push_back(*term);
    }
    if (pool.size() == first) return {};
    if (scope_.one_in(6)) {
      if (pool.size() < first + 2) return {};
      return {pool.back(), pool[pool.size() - 2]};
    }
    return {pool.back()};
  }

  // -- equations ----------------------------------------------------------------------------------

  /// The claim of a change at a place, as the results of the whole show it. No value if ops above
  /// the place enlarge an error.
  static std::optional<RewriteClaim::Kind> claim_at(const TermPtr& term,
                                                    const std::vector<std::size_t>& place,
                                                    RewriteClaim::Kind claim) {
    TermPtr at = term;
    for (const std::size_t operand : place) {
      const bool is_plain = is_move(*at) || at->is("WhereOp");
      const bool is_calm = is_plain || at->is("NegOp") || at->is("AbsOp") || at->is("ReLUOp");
      if (claim == kBound && !is_calm) return std::nullopt;
      if (claim == kValue && !is_plain) return kBits;  // it stores one NaN
      at = at->operands[operand];
    }
    return claim;
  }

  /// Applies one equation at a random place where it holds.
  bool change(std::vector<TermPtr>& terms, const TermRule& rule, bool has_bound) {
    TermPtr& term = terms[scope_.below(terms.size())];
    const auto places = places_in(term);
    const std::size_t first = scope_.below(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto& place = places[(first + i) % places.size()];
      const auto equal = rule.apply(at_place(term, place), scope_);
      if (!equal || (equal->claim == kBound && has_bound)) continue;
      const auto claim = claim_at(term, place, equal->claim);
      if (!claim) continue;
      term = replaced_at(term, place, equal->term);
      made_.claim_ = std::max(made_.claim_, *claim);
      made_.rules_.emplace_back(rule.name);
      return true;
    }
    return false;
  }

  std::vector<TermPtr> changed(std::vector<TermPtr> terms, std::size_t steps) {
    constexpr int kTries = 60;
    // Bounds of one equation on each side are kept; those of a chain would add up.
    const auto rounds = [&] { return std::ranges::count(made_.rules_, "rounded"); };
    const auto before = rounds();
    // Those of any term would crowd out the others.
    const std::span rules = term_rules();
    for (int tries = 0; tries < kTries && steps > 0; ++tries) {
      const TermRule& rule = one_of(rules, scope_);
      if (rule.is_of_any && tries < kTries / 2 && !scope_.one_in(8)) continue;
      if (change(terms, rule, rounds() > before)) --steps;
    }
    return terms;
  }

  // -- what a pattern must be
  // -----------------------------------------------------------------------

  bool is_good() const {
    constexpr int kMostOps = 9, kMostCommutative = 4;
    const TermStyle style{.shares = made_.shares_};
    const TermText match = text_of(made_.match_, style), rewrite = text_of(made_.rewrite_, style);
    if (match.count > kMostOps || match.commutative > kMostCommutative) return false;
    if (match.ops == rewrite.ops && match.results == rewrite.results) return false;
    for (std::size_t i = 0; i < made_.match_.size(); ++i) {
      if (made_.match_[i]->kind != Term::Kind::kOp) return false;
      if (std::ranges::count(match.results, match.results[i]) > 1) return false;
    }
    if (!made_.is_typed_ && has_constant(made_.rewrite_)) return false;
    if (!made_.is_typed_ && has_constant(made_.match_) && has_move(made_.match_)) return false;
    return are_connected() && are_inputs_known() && are_variables_known();
  }

  /// By terms with operands; two graphs of a pattern meet in an input.
  bool are_connected() const {
    if (made_.match_.size() == 1) return true;
    const auto first = inputs_of({made_.match_[0]}), second = inputs_of({made_.match_[1]});
    return std::ranges::any_of(first, [&](const TermPtr& each) {
      return std::ranges::find(second, each->name, &Term::name) != second.end();
    });
  }

  bool are_inputs_known() const {
    const auto known = inputs_of(made_.match_);
    return !known.empty() &&
           std::ranges::all_of(inputs_of(made_.rewrite_), [&](const TermPtr& each) {
             return std::ranges::find(known, each->name, &Term::name) != known.end();
           });
  }

  bool are_variables_known() const {
    std::vector<std::string> known = variables_of(made_.match_);
    for (const TermVariable& each : scope_.variables) {
      const bool is_composed = each.kind == VariableKind::kComposed;
      const bool is_matched = std::ranges::find(known, each.name) != known.end();
      if (is_composed && is_matched) return false;
    }
    const auto is_bound = [&](const std::string& name) {
      return std::ranges::find(known, name) != known.end();
    };
    for (const TermPtr& each : inputs_of(made_.match_)) {
      std::ranges::copy(variables_in(each->shape), std::back_inserter(known));
    }
    return std::ranges::all_of(variables_of(made_.rewrite_), [&](const std::string& name) {
      const auto composed = std::ranges::find(scope_.variables, name, &TermVariable::name);
      return is_bound(name) ||
             (composed != scope_.variables.end() && composed->kind == VariableKind::kComposed &&
              is_bound(composed->first) && is_bound(composed->second));
    });
  }

  Random random_;
  GeneratedPattern made_;
  TermScope scope_;
};

GeneratedPattern GeneratedPattern::make(std::uint64_t seed, std::string name) {
  return PatternMaker(seed, std::move(name)).make();
}

RewriteClaim GeneratedPattern::claim() const {
  if (claim_ != kBound) return {.kind = claim_};
  return {.kind = kBound,
          .relative = kBoundRelative,
          .absolute = kBoundAbsolute,
          .only_finite = true,
          .largest = kCalm};
}

bool GeneratedPattern::shrinks() const {
  const TermStyle style{.shares = shares_};
  return text_of(rewrite_, style).count < text_of(match_, style).count;
}

// -- text -----------------------------------------------------------------------------------------

std::string GeneratedPattern::type_of(const Term& input) const {
  return fmt::format("tensor<{}, {}, {}>", input.shape, input.dtype, device_);
}

std::string GeneratedPattern::graph_text(const std::vector<TermPtr>& results, bool is_match) const {
  std::vector<std::string> inputs;
  for (const TermPtr& each : inputs_of(match_)) {
    inputs.push_back(is_typed_ ? fmt::format("%{}:{}", each->name, type_of(*each))
                               : '%' + each->name);
  }
  // A constant of many dimensions would give its result another rank, in which axes differ.
  const TermStyle style{.device = device_,
                        .shares = shares_,
                        .types_constants = !is_match || (is_typed_ && has_move(match_))};
  const TermText text = text_of(results, style);
  return fmt::format(
      "        ({0}) -> ({1}) {{\n{2}            cf.ReturnOp ({1}) -> ()\n        }}\n",
      fmt::join(inputs, ", "), fmt::join(text.results, ", "), text.ops);
}

std::string GeneratedPattern::text() const {
  std::vector<std::string> attributes, lets, where;
  if (benefit_ != 1) attributes.push_back(fmt::format("benefit:{}", benefit_));
  if (claim_ == kValue) attributes.emplace_back("claim:value");
  if (claim_ == kBound) {
    attributes.push_back(fmt::format("claim:bound, absolute:{}, relative:{}, largest:{}",
                                     kBoundAbsolute, kBoundRelative, kCalm));
  }
  const auto used = variables_of(rewrite_);
  for (const TermVariable& each : variables_) {
    if (each.kind != VariableKind::kComposed || std::ranges::find(used, each.name) == used.end()) {
      continue;
    }
    lets.push_back(
        fmt::format("{}:\"compose({}, {})\"", each.name.substr(1), each.first, each.second));
  }
  if (!lets.empty()) attributes.push_back(fmt::format("let:{{{}}}", fmt::join(lets, ", ")));
  if (!domain_->name.empty()) {
    const auto state = [&](const std::string& type) {
      where.push_back(fmt::format(fmt::runtime(domain_->name), type, type));
    };
    // Where no type says so, operands may be of several types: numbers and complex ones.
    for (const TermPtr& each : inputs_of(match_)) {
      if (!is_typed_) state(fmt::format("dtype(%{})", each->name));
    }
    if (is_typed_ && domain_->text == "T") state("T");
  }
  const TermText match = text_of(match_, {.shares = shares_});
  if (counts_users_) {
    for (const auto& [value, uses] : match.uses) {
      if (std::ranges::find(match.results, value) == match.results.end()) {
        where.push_back(fmt::format("users({}) == {}", value, uses));
      }
    }
  }
  if (where.size() == 1) {
    attributes.push_back(fmt::format("where:\"{}\"", where[0]));
  } else if (!where.empty()) {
    attributes.push_back(fmt::format("where:[\"{}\"]", fmt::join(where, "\", \"")));
  }
  return fmt::format("    pattern.RewriteOp @{} {}{{\n{}{}    }}\n", name_,
                     attributes.empty() ? "" : fmt::format("[{}] ", fmt::join(attributes, ", ")),
                     graph_text(match_, true), graph_text(rewrite_, false));
}

// -- instances ------------------------------------------------------------------------------------

Assignment GeneratedPattern::assignment(Random& random) const {
  constexpr std::array kNumberTexts = {"-2", "-1", "0.5", "1", "3", "2.5"};
  Assignment values{{"D", "CPU"}};
  values["T"] = domain_->dtypes[below(random, domain_->dtypes.size())];
  const std::size_t rank = 1 + below(random, 3);
  std::vector<std::string> extents;
  for (std::size_t i = 0; i < rank; ++i) extents.push_back(std::to_string(1 + below(random, 4)));
  values["$n"] = fmt::format("{}", fmt::join(extents, ", "));
  for (const std::string_view extent : {"$a", "$b", "$c"}) {
    values[std::string(extent)] = std::to_string(1 + below(random, 4));
  }
  std::map<std::string, std::vector<std::size_t>> orders;
  for (const TermVariable& each : variables_) {
    std::vector<std::size_t>& order = orders[each.name];
    order.resize(rank);
    std::iota(order.begin(), order.end(), 0);
    switch (each.kind) {
      case VariableKind::kAxis: {
        const auto axis = static_cast<int>(below(random, rank));
        values[each.name] =
            std::to_string(below(random, 2) == 0 ? axis : axis - static_cast<int>(rank));
        break;
      }
      case VariableKind::kNumber:
        values[each.name] = kNumberTexts[below(random, kNumberTexts.size())];
        break;
      case VariableKind::kShape:
        values[each.name] = below(random, 2) == 0 ? "[-1]" : "[1, -1]";
        break;
      case VariableKind::kPermutation:
        for (std::size_t i = rank; i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
        values[each.name] = fmt::format("[{}]", fmt::join(order, ", "));
        break;
      case VariableKind::kComposed:
        for (std::size_t i = 0; i < rank; ++i) {
          order[i] = orders[each.first].at(orders[each.second].at(i));
        }
        values[each.name] = fmt::format("[{}]", fmt::join(order, ", "));
        break;
    }
  }
  return values;
}

std::string GeneratedPattern::module_text(const std::vector<TermPtr>& results,
                                          const Assignment& values) const {
  std::vector<std::string> inputs;
  for (const TermPtr& each : inputs_of(match_)) {
    const std::string shape = is_typed_ ? each->shape : "[$n..]";
    inputs.push_back(substituted(
        fmt::format("%{}:tensor<{}, {}, CPU>", each->name, shape, each->dtype), values));
  }
  const TermStyle style{.values = &values,
                        .device = "CPU",
                        .shares = shares_,
                        .types_constants = true,
                        .indent = "    "};
  const TermText text = text_of(results, style);
  return fmt::format(
      "@main [mir_version:1] ({0}) -> ({1}) {{\n{2}    cf.ReturnOp ({1}) -> ()\n}}\n",
      fmt::join(inputs, ", "), fmt::join(text.results, ", "), text.ops);
}

PatternInstance GeneratedPattern::instance(std::uint64_t seed) const {
  Random random(seed);
  const Assignment values = assignment(random);
  return {module_text(match_, values), module_text(rewrite_, values), claim()};
}

// -- faults ---------------------------------------------------------------------------------------

std::optional<GeneratedPattern> GeneratedPattern::with_fault(std::uint64_t seed,
                                                             std::string name) const {
  Random random(seed);
  GeneratedPattern made = *this;
  made.name_ = std::move(name);
  const std::uint64_t way = below(random, 3);
  // Bits are equal after all where both sides store the one NaN.
  const auto stores_it = [](const TermPtr& a, const TermPtr& b) {
    return a->has_one_nan == b->has_one_nan;
  };
  const bool has_equal_bits =
      claim_ == kBits || (claim_ == kValue && std::ranges::equal(match_, rewrite_, stores_it));
  if (way == 0 && !has_equal_bits) {
    made.claim_ = claim_ == kBound && below(random, 2) == 0 ? kValue : kBits;
    made.fault_ = "claim strengthened";
    return made;
  }
  // The other equations hold for all numbers.
  const bool needs_condition = std::ranges::any_of(rules_, [](const std::string& rule) {
    return rule == "ring" || rule == "abs of negation" || rule == "plus nothing" ||
           rule == "rounded";
  });
  if (way == 1 && needs_condition && domain_->text == "T" && domain_ != &kDomains[kNumbers]) {
    made.domain_ = below(random, 2) == 0 ? &kDomains[kNumbers] : &kWithoutCondition;
    made.fault_ = "condition widened";
    return made;
  }
  TermScope scope{.random = random,
                  .domain = *domain_,
                  .is_ranked = is_ranked_,
                  .is_typed = is_typed_,
                  .variables = variables_};
  // Every kind of fault has the same chance, wherever the pattern has a place for it.
  std::vector<TermFault> faults(term_faults().begin(), term_faults().end());
  for (std::size_t i = faults.size(); i > 1; --i) std::swap(faults[i - 1], faults[scope.below(i)]);
  for (const TermFault& fault : faults) {
    TermPtr& term = made.rewrite_[scope.below(made.rewrite_.size())];
    const auto places = places_in(term);
    const std::size_t start = scope.below(places.size());
    for (std::size_t j = 0; j < places.size(); ++j) {
      const auto& place = places[(start + j) % places.size()];
      const TermPtr before = at_place(term, place);
      const auto after = fault.plant(before, scope);
      if (!after || (*after)->key == before->key) continue;
      if (!is_typed_ && has_constant({*after})) continue;
      term = replaced_at(term, place, *after);
      made.fault_ = fault.name;
      made.variables_ = scope.variables;
      return made;
    }
  }
  return std::nullopt;
}

}  // namespace mir::test

#include "pattern_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <iterator>
#include <numeric>

namespace mir::test {

namespace {

using enum RewriteClaim::Kind;
using Made = std::optional<EqualTerm>;
using VariableKind = TermVariable::Kind;

TermPtr unary(std::string name, TermPtr x) {
  return op_term(std::move(name), {}, {std::move(x)});
}
TermPtr binary(std::string name, TermPtr a, TermPtr b) {
  return op_term(std::move(name), {}, {std::move(a), std::move(b)});
}

/// Of a rewrite that stores the one NaN where the term may hold others.
RewriteClaim::Kind claim_after(const Term& term, const TermScope& scope) {
  return term.has_one_nan || scope.is_integer(term) ? kBits : kValue;
}

bool is_floating(std::string_view dtype) {
  return dtype.find("Float") != dtype.npos;
}

template <class Test>
bool all_types(const Term& term, const TypeDomain& domain, Test test) {
  if (term.dtype != domain.text) return test(std::string_view(term.dtype));
  return std::ranges::all_of(domain.dtypes, test);
}

bool is_literal_shape(const Term& term) {
  return term.dims && std::ranges::all_of(*term.dims, [](const std::string& extent) {
           return extent.find_first_not_of("0123456789") == extent.npos;
         });
}

// -- arithmetic -----------------------------------------------------------------------------------

Made double_negation(const TermPtr& t, TermScope& scope) {
  if (!scope.is_number(*t)) return std::nullopt;
  return EqualTerm{unary("NegOp", unary("NegOp", t)), claim_after(*t, scope)};
}

Made times_one(const TermPtr& t, TermScope& scope) {
  if (!scope.is_number(*t)) return std::nullopt;
  return EqualTerm{binary(scope.one_in(3) ? "DivOp" : "MulOp", t, constant_term("1", t)),
                   claim_after(*t, scope)};
}

Made plus_nothing(const TermPtr& t, TermScope& scope) {
  if (!scope.is_number(*t)) return std::nullopt;
  const auto claim = claim_after(*t, scope);
  if (scope.one_in(2)) return EqualTerm{binary("SubOp", t, constant_term("0.0", t)), claim};
  if (scope.is_integer(*t)) return EqualTerm{binary("AddOp", constant_term("0", t), t), claim};
  if (!scope.is_float(*t)) return std::nullopt;
  return EqualTerm{binary("AddOp", t, constant_term("-0.0", t)), claim};
}

Made idempotent(const TermPtr& t, TermScope&) {
  if (!t->is("ReLUOp") && !t->is("AbsOp") && !t->is("ClipOp")) return std::nullopt;
  return EqualTerm{op_term(t->name, t->attributes, {t})};
}

Made abs_of_negation(const TermPtr& t, TermScope& scope) {
  if (!t->is("AbsOp") || !scope.is_signed(*t)) return std::nullopt;
  return EqualTerm{unary("AbsOp", unary("NegOp", t->operands[0]))};
}

/// Bounds are not zero, of which the sign would matter.
Made wider_clip(const TermPtr& t, TermScope&) {
  if (!t->is("ClipOp") || t->attribute("min_val").starts_with('$')) return std::nullopt;
  return EqualTerm{
      op_term("ClipOp", t->attributes,
              {op_term("ClipOp", {{"min_val", "-7"}, {"max_val", "9"}}, {t->operands[0]})})};
}

Made commuted(const TermPtr& t, TermScope&) {
  if (!t->is("AddOp") && !t->is("MulOp")) return std::nullopt;
  return EqualTerm{binary(t->name, t->operands[1], t->operands[0])};
}

Made sum_as_difference(const TermPtr& t, TermScope&) {
  if (!t->is("AddOp") && !t->is("SubOp")) return std::nullopt;
  if (t->operands[1]->kind == Term::Kind::kConstant) return std::nullopt;
  return EqualTerm{
      binary(t->is("AddOp") ? "SubOp" : "AddOp", t->operands[0], unary("NegOp", t->operands[1]))};
}

Made negated_product(const TermPtr& t, TermScope& scope) {
  const bool is_product = t->is("MulOp") || (t->is("DivOp") && scope.is_float(*t));
  if (!is_product || t->operands[1]->kind == Term::Kind::kConstant ||
      t->operands[0]->kind == Term::Kind::kConstant) {
    return std::nullopt;
  }
  const TermPtr &a = t->operands[0], &b = t->operands[1];
  switch (scope.below(3)) {
    case 0:
      return EqualTerm{binary(t->name, unary("NegOp", a), unary("NegOp", b))};
    case 1:
      return EqualTerm{unary("NegOp", binary(t->name, unary("NegOp", a), b))};
    default:
      return EqualTerm{unary("NegOp", binary(t->name, a, unary("NegOp", b)))};
  }
}

Made twice(const TermPtr& t, TermScope& scope) {
  if (!scope.is_number(*t) || !t->is("AddOp")) return std::nullopt;
  if (t->operands[0]->key != t->operands[1]->key) return std::nullopt;
  return EqualTerm{binary("MulOp", t->operands[0], constant_term("2", t->operands[0]))};
}

/// Modulo 2^bits, sums and products are those of a ring.
Made ring(const TermPtr& t, TermScope& scope) {
  if (!scope.is_integer(*t)) return std::nullopt;
  const auto operand = [&](std::size_t i) { return t->operands[i]; };
  if (t->is("NegOp") && operand(0)->is("AddOp")) {
    const auto& sum = operand(0)->operands;
    return EqualTerm{binary("AddOp", unary("NegOp", sum[0]), unary("NegOp", sum[1]))};
  }
  if (t->is("NegOp") && operand(0)->is("SubOp")) {
    const auto& difference = operand(0)->operands;
    return EqualTerm{binary("SubOp", difference[1], difference[0])};
  }
  if (!t->is("AddOp") && !t->is("MulOp") && !t->is("SubOp")) return std::nullopt;
  const TermPtr a = operand(0), b = operand(1);
  if (t->is("SubOp") && b->is("SubOp")) {
    return EqualTerm{binary("AddOp", binary("SubOp", a, b->operands[0]), b->operands[1])};
  }
  if (t->is("MulOp") && (b->is("AddOp") || b->is("SubOp"))) {
    return EqualTerm{
        binary(b->name, binary("MulOp", a, b->operands[0]), binary("MulOp", a, b->operands[1]))};
  }
  if (!t->is("SubOp") && a->is(t->name)) {
    return EqualTerm{binary(t->name, a->operands[0], binary(t->name, a->operands[1], b))};
  }
  if (!t->is("SubOp") && b->is(t->name)) {
    return EqualTerm{binary(t->name, binary(t->name, a, b->operands[0]), b->operands[1])};
  }
  return std::nullopt;
}

// -- bounds ---------------------------------------------------------------------------------------

bool has_float32_digits(const Term& term, const TermScope& scope) {
  return all_types(term, scope.domain,
                   [](std::string_view each) { return each == "Float32" || each == "Float64"; });
}

Made rounded(const TermPtr& t, TermScope& scope) {
  if (!has_float32_digits(*t, scope)) return std::nullopt;
  const auto is_calm = [](const TermPtr& each) { return each->is_calm; };
  if (!std::ranges::all_of(t->operands, [&](const TermPtr& each) {
        return each->is_calm || std::ranges::all_of(each->operands, is_calm);
      })) {
    return std::nullopt;
  }
  if (t->is("MulOp") && t->operands[1]->is("SigmoidOp") && t->operands[0]->is_calm &&
      t->operands[1]->operands[0]->key == t->operands[0]->key) {
    return EqualTerm{unary("SiLUOp", t->operands[0]), kBound};
  }
  if (t->is("AddOp") && t->operands[0]->is("AddOp") && t->operands[1]->is_calm) {
    const auto& sum = t->operands[0]->operands;
    return EqualTerm{binary("AddOp", sum[0], binary("AddOp", sum[1], t->operands[1])), kBound};
  }
  if (t->is("MulOp") && t->operands[1]->is("AddOp") && t->operands[0]->is_calm) {
    const auto& sum = t->operands[1]->operands;
    return EqualTerm{binary("AddOp", binary("MulOp", t->operands[0], sum[0]),
                            binary("MulOp", t->operands[0], sum[1])),
                     kBound};
  }
  if (t->is("NegOp") && t->operands[0]->is("SubOp")) {
    const auto& difference = t->operands[0]->operands;
    return EqualTerm{binary("SubOp", difference[1], difference[0]), kBound};
  }
  if (t->is("MulOp") && t->operands[1]->key.starts_with("constant 0.03 ") &&
      t->operands[0]->is_calm) {
    return EqualTerm{binary("MulOp", binary("MulOp", t->operands[0], constant_term("0.1", t)),
                            constant_term("0.3", t)),
                     kBound};
  }
  if (t->is("DivOp") && t->operands[1]->key.starts_with("constant 10 ") &&
      t->operands[0]->is_calm) {
    return EqualTerm{binary("MulOp", t->operands[0], constant_term("0.1", t)), kBound};
  }
  return std::nullopt;
}

// -- choices --------------------------------------------------------------------------------------

Made same_choice(const TermPtr& t, TermScope& scope) {
  if (!scope.is_typed || t->kind == Term::Kind::kConstant) return std::nullopt;
  const bool is_plain =
      t->dims ? t->shape.find_first_of("+*-") == t->shape.npos : t->shape == "[$n..]";
  if (!is_plain) return std::nullopt;
  std::string name = "b";
  std::ranges::copy_if(t->shape, std::back_inserter(name),
                       [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
  const TermPtr condition = input_term(name, "Bool", t->shape, t->dims);
  return EqualTerm{op_term("WhereOp", {}, {condition, t, t})};
}

/// An elementwise op of a choice is a choice of its results.
Made op_of_choice(const TermPtr& t, TermScope&) {
  if (is_unary(*t) && t->operands[0]->is("WhereOp")) {
    const auto& choice = t->operands[0]->operands;
    return EqualTerm{
        op_term("WhereOp", {},
                {choice[0], with_operands(*t, {choice[1]}), with_operands(*t, {choice[2]})})};
  }
  if (!t->is("WhereOp") || !is_unary(*t->operands[1]) || !is_unary(*t->operands[2])) {
    return std::nullopt;
  }
  const Term &a = *t->operands[1], &b = *t->operands[2];
  if (a.name != b.name || a.attributes != b.attributes) return std::nullopt;
  return EqualTerm{
      with_operands(a, {op_term("WhereOp", {}, {t->operands[0], a.operands[0], b.operands[0]})})};
}

// -- moves ----------------------------------------------------------------------------------------

/// `op(move(x))` and `move(op(x))`.
Made op_of_move(const TermPtr& t, TermScope&) {
  const auto through = [&](const Term& move) {
    std::vector<TermPtr> operands;
    for (const TermPtr& each : move.operands) operands.push_back(with_operands(*t, {each}));
    return with_operands(move, std::move(operands));
  };
  if (is_unary(*t) && is_move(*t->operands[0])) return EqualTerm{through(*t->operands[0])};
  if (!is_binary(*t)) return std::nullopt;
  const Term &a = *t->operands[0], &b = *t->operands[1];
  const bool are_alike = is_move(a) && a.operands.size() == 1 && b.is(a.name) &&
                         a.attributes == b.attributes && a.result == b.result &&
                         a.operands[0]->shape == b.operands[0]->shape;
  if (!are_alike) return std::nullopt;
  return EqualTerm{with_operands(a, {with_operands(*t, {a.operands[0], b.operands[0]})})};
}

Made move_of_op(const TermPtr& t, TermScope&) {
  if (!is_move(*t) || t->operands.empty()) return std::nullopt;
  const Term& first = *t->operands[0];
  if (t->operands.size() == 1 && is_binary(first)) {
    const TermPtr &a = first.operands[0], &b = first.operands[1];
    const bool has_constant = a->kind == Term::Kind::kConstant || b->kind == Term::Kind::kConstant;
    if (has_constant || a->shape != b->shape) return std::nullopt;
    return EqualTerm{with_operands(first, {with_operands(*t, {a}), with_operands(*t, {b})})};
  }
  std::vector<TermPtr> inner;
  for (const TermPtr& each : t->operands) {
    if (!is_unary(*each) || each->name != first.name || each->attributes != first.attributes) {
      return std::nullopt;
    }
    inner.push_back(each->operands[0]);
  }
  return EqualTerm{with_operands(first, {with_operands(*t, std::move(inner))})};
}

/// Whether axes can be chosen: constants have none, and a view of unknown shape has others.
bool can_move(const Term& term) {
  if (term.kind == Term::Kind::kConstant) return false;
  if (!term.dims) return term.shape.find("ViewOp") == term.shape.npos;
  return std::ranges::find(*term.dims, "-1") == term.dims->end();
}

Made transposed_twice(const TermPtr& t, TermScope& scope) {
  if (!can_move(*t)) return std::nullopt;
  TermAttributes axes, again;
  if (scope.is_ranked) {
    if (!t->dims || t->dims->size() < 2) return std::nullopt;
    const auto rank = static_cast<int>(t->dims->size());
    const int a = static_cast<int>(scope.below(t->dims->size())), b = (a + 1) % rank;
    axes = {{"dim0", std::to_string(a)}, {"dim1", std::to_string(b)}};
    again = scope.one_in(2)
                ? axes
                : TermAttributes{{"dim0", std::to_string(b - rank)}, {"dim1", std::to_string(a)}};
  } else {
    const std::string a = scope.new_variable(VariableKind::kAxis);
    const std::string b = scope.new_variable(VariableKind::kAxis);
    axes = {{"dim0", a}, {"dim1", b}};
    again = scope.one_in(2) ? axes : TermAttributes{{"dim0", b}, {"dim1", a}};
  }
  return EqualTerm{op_term("TransposeOp", again, {op_term("TransposeOp", axes, {t})})};
}

std::vector<std::size_t> random_order(std::size_t count, TermScope& scope) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[scope.below(i)]);
  return order;
}

TermAttributes axis_list(const std::vector<std::size_t>& order) {
  return {{"axis", fmt::format("[{}]", fmt::join(order, ", "))}};
}

Made permuted_back(const TermPtr& t, TermScope& scope) {
  if (!can_move(*t) || !t->dims || t->dims->size() < 2) return std::nullopt;
  const std::vector<std::size_t> order = random_order(t->dims->size(), scope);
  std::vector<std::size_t> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[order[i]] = i;
  return EqualTerm{
      op_term("PermuteOp", axis_list(inverse), {op_term("PermuteOp", axis_list(order), {t})})};
}

std::vector<std::size_t> order_of(const Term& permute) {
  std::vector<std::size_t> order;
  for (const char c : permute.attribute("axis")) {
    if (c >= '0' && c <= '9') order.push_back(static_cast<std::size_t>(c - '0'));
  }
  return order;
}

Made composed(const TermPtr& t, TermScope& scope) {
  if (!t->is("PermuteOp") || !t->operands[0]->is("PermuteOp")) return std::nullopt;
  const Term& first = *t->operands[0];
  if (!t->dims) {
    const std::string name =
        scope.new_variable(VariableKind::kComposed, std::string(first.attribute("axis")),
                           std::string(t->attribute("axis")));
    return EqualTerm{op_term("PermuteOp", {{"axis", name}}, first.operands)};
  }
  const auto p = order_of(first), q = order_of(*t);
  std::vector<std::size_t> both;
  for (const std::size_t each : q) both.push_back(p.at(each));
  return EqualTerm{op_term("PermuteOp", axis_list(both), first.operands)};
}

Made permute_of_transpose(const TermPtr& t, TermScope&) {
  if (!t->is("TransposeOp") || !t->dims) return std::nullopt;
  std::vector<std::size_t> order(t->dims->size());
  std::iota(order.begin(), order.end(), 0);
  const auto axis = [&](std::string_view name) {
    const int number = std::stoi(std::string(t->attribute(name)));
    return static_cast<std::size_t>(number < 0 ? number + static_cast<int>(order.size()) : number);
  };
  std::swap(order.at(axis("dim0")), order.at(axis("dim1")));
  return EqualTerm{op_term("PermuteOp", axis_list(order), t->operands)};
}

Made viewed_twice(const TermPtr& t, TermScope& scope) {
  if (t->is("ViewOp")) {
    return EqualTerm{
        op_term("ViewOp", t->attributes, {op_term("ViewOp", {{"to_shape", "[-1]"}}, t->operands)})};
  }
  if (!can_move(*t) || !t->dims || t->dims->empty()) return std::nullopt;
  const bool is_plain = std::ranges::none_of(
      *t->dims, [](const std::string& extent) { return extent.find('+') != extent.npos; });
  if (!is_plain) return std::nullopt;
  TermExtents other{"1"};
  other.insert(other.end(), t->dims->begin(), t->dims->end());
  if (scope.one_in(2)) std::swap(other.front(), other.back());
  const auto list = [](const TermExtents& dims) {
    return TermAttributes{{"to_shape", fmt::format("[{}]", fmt::join(dims, ", "))}};
  };
  return EqualTerm{op_term("ViewOp", list(*t->dims), {op_term("ViewOp", list(other), {t})})};
}

Made copied(const TermPtr& t, TermScope& scope) {
  if (t->kind == Term::Kind::kConstant) return std::nullopt;
  switch (scope.below(3)) {
    case 0:
      return EqualTerm{unary("ContiguousOp", t)};
    case 1:
      return EqualTerm{unary("CloneOp", t)};
    default:
      if (!can_move(*t) || (scope.is_ranked && (!t->dims || t->dims->empty()))) return std::nullopt;
      return EqualTerm{op_term("RepeatOp", {{"dim", "-1"}, {"repeat_times", "1"}}, {t})};
  }
}

std::string slice_entry(int start, int end, int step) {
  return fmt::format("{{\"start\":{},\"end\":{},\"step\":{}}}", start, end, step);
}

/// One slice of a literal extent as two.
Made sliced_twice(const TermPtr& t, TermScope& scope) {
  if (!t->is("SliceOp") || !is_literal_shape(*t) || !is_literal_shape(*t->operands[0])) {
    return std::nullopt;
  }
  // The first slice keeps from its start on, the second one the rest.
  std::vector<std::string> first, second;
  std::string_view rest = t->attribute("indices");
  for (std::size_t i = 0; i < t->dims->size(); ++i) {
    const auto open = rest.find('{'), close = rest.find('}');
    const std::string entry(rest.substr(open, close - open + 1));
    rest.remove_prefix(close + 1);
    int start = 0, end = 0, step = 1;
    if (std::sscanf(entry.c_str(), "{\"start\":%d,\"end\":%d,\"step\":%d}", &start, &end, &step) !=
        3) {
      first.emplace_back("{}");
      second.emplace_back("{}");
      continue;
    }
    const int taken = static_cast<int>(scope.below(static_cast<std::uint64_t>(start) + 1));
    first.push_back(slice_entry(taken, end, 1));
    second.push_back(slice_entry(start - taken, end - taken, step));
  }
  const auto list = [](const std::vector<std::string>& entries) {
    return TermAttributes{{"indices", fmt::format("[{}]", fmt::join(entries, ", "))}};
  };
  return EqualTerm{
      op_term("SliceOp", list(second), {op_term("SliceOp", list(first), t->operands)})};
}

Made split_and_joined(const TermPtr& t, TermScope& scope) {
  if (!can_move(*t)) return std::nullopt;
  if (!t->dims || t->dims->empty()) {
    return scope.is_ranked ? std::nullopt
                           : Made(EqualTerm{op_term("ConcatOp", {{"dim", "-1"}}, {t})});
  }
  const std::size_t axis = scope.below(t->dims->size());
  const std::string& extent = (*t->dims)[axis];
  if (extent.find_first_not_of("0123456789") != extent.npos || std::stoi(extent) < 2) {
    return std::nullopt;
  }
  const int whole = std::stoi(extent);
  const int part = 1 + static_cast<int>(scope.below(static_cast<std::uint64_t>(whole) - 1));
  const TermAttributes how{{"dim", std::to_string(axis)},
                           {"split_size_or_sections", fmt::format("[{}, {}]", part, whole - part)}};
  return EqualTerm{
      op_term("ConcatOp", {{"dim", std::to_string(axis)}},
              {op_term("SplitOp", how, {t}, 0, 2), op_term("SplitOp", how, {t}, 1, 2)})};
}

// -- casts ----------------------------------------------------------------------------------------

/// A type that has all numbers of another one.
struct Widening {
  std::string_view from, to;
};
constexpr std::array kWidenings = {
    Widening{"Float32", "Float64"},  Widening{"Float16", "Float32"}, Widening{"Float16", "Float64"},
    Widening{"BFloat16", "Float32"}, Widening{"Int8", "Int16"},      Widening{"Int8", "Int32"},
    Widening{"Int8", "Float32"},     Widening{"Int8", "BFloat16"},   Widening{"UInt8", "Int16"},
    Widening{"UInt8", "Float16"},    Widening{"Int16", "Float32"},   Widening{"Int16", "Int64"},
    Widening{"Int32", "Int64"},      Widening{"Int32", "Float64"},
};

TermPtr cast(std::string_view to, const TermPtr& x) {
  return op_term("CastTypeOp", {{"dtype", std::string(to)}}, {x});
}

std::string_view wider_type(const Term& term, TermScope& scope) {
  const std::size_t from = scope.below(kWidenings.size());
  for (std::size_t i = 0; i < kWidenings.size(); ++i) {
    const Widening& each = kWidenings[(from + i) % kWidenings.size()];
    if (each.from == term.dtype) return each.to;
  }
  return "";
}

Made cast_and_back(const TermPtr& t, TermScope& scope) {
  if (t->kind == Term::Kind::kConstant) return std::nullopt;
  const std::string_view wider = wider_type(*t, scope);
  if (wider.empty()) return std::nullopt;
  return EqualTerm{cast(t->dtype, cast(wider, t)), claim_after(*t, scope)};
}

/// Ops of floats that round nothing give the same in a wider type.
Made op_of_cast(const TermPtr& t, TermScope&) {
  const bool is_exact = t->is("NegOp") || t->is("AbsOp") || t->is("ReLUOp");
  if (!is_exact || !t->operands[0]->is("CastTypeOp")) return std::nullopt;
  const Term& inner = *t->operands[0];
  for (const Widening& each : kWidenings) {
    if (each.from != inner.operands[0]->dtype || each.to != inner.dtype) continue;
    if (!is_floating(each.from)) return std::nullopt;
    return EqualTerm{cast(inner.dtype, with_operands(*t, inner.operands))};
  }
  return std::nullopt;
}

constexpr std::array kRules = {
    TermRule{"double negation", true, double_negation},
    TermRule{"times one", true, times_one},
    TermRule{"plus nothing", true, plus_nothing},
    TermRule{"idempotent", false, idempotent},
    TermRule{"abs of negation", false, abs_of_negation},
    TermRule{"wider clip", false, wider_clip},
    TermRule{"commuted", false, commuted},
    TermRule{"sum as difference", false, sum_as_difference},
    TermRule{"negated product", false, negated_product},
    TermRule{"twice", false, twice},
    TermRule{"ring", false, ring},
    TermRule{"rounded", false, rounded},
    TermRule{"same choice", true, same_choice},
    TermRule{"op of choice", false, op_of_choice},
    TermRule{"op of move", false, op_of_move},
    TermRule{"move of op", false, move_of_op},
    TermRule{"transposed twice", true, transposed_twice},
    TermRule{"permuted back", true, permuted_back},
    TermRule{"composed permutations", false, composed},
    TermRule{"transpose as permutation", false, permute_of_transpose},
    TermRule{"viewed twice", true, viewed_twice},
    TermRule{"copied", true, copied},
    TermRule{"sliced twice", false, sliced_twice},
    TermRule{"split and joined", true, split_and_joined},
    TermRule{"cast and back", true, cast_and_back},
    TermRule{"op of cast", false, op_of_cast},
};

}  // namespace

std::string TermScope::new_variable(VariableKind kind, std::string first, std::string second) {
  variables.push_back(
      {fmt::format("$p{}", variables.size()), kind, std::move(first), std::move(second)});
  return variables.back().name;
}

bool TermScope::is_float(const Term& term) const {
  return all_types(term, domain, is_floating);
}

bool TermScope::is_integer(const Term& term) const {
  return all_types(term, domain,
                   [](std::string_view each) { return each.find("Int") != each.npos; });
}

bool TermScope::is_signed(const Term& term) const {
  return all_types(term, domain, [](std::string_view each) {
    return is_floating(each) || each.starts_with("Int");
  });
}

bool TermScope::is_number(const Term& term) const {
  return term.kind != Term::Kind::kConstant && all_types(term, domain, [](std::string_view each) {
           return is_floating(each) || each.find("Int") != each.npos;
         });
}

std::span<const TermRule> term_rules() {
  return kRules;
}

std::optional<TermPtr> widened(const TermPtr& term, TermScope& scope) {
  const std::string_view wider = wider_type(*term, scope);
  return wider.empty() ? std::nullopt : std::optional(cast(wider, term));
}

std::optional<TermPtr> moved(const TermPtr& term, TermScope& scope) {
  if (!can_move(*term)) return std::nullopt;
  if (!scope.is_ranked) {
    switch (scope.below(4)) {
      case 0:
        return op_term("TransposeOp",
                       {{"dim0", scope.new_variable(VariableKind::kAxis)},
                        {"dim1", scope.new_variable(VariableKind::kAxis)}},
                       {term});
      case 1:
      case 2:
        return op_term("PermuteOp", {{"axis", scope.new_variable(VariableKind::kPermutation)}},
                       {term});
      default:
        return op_term("ViewOp", {{"to_shape", scope.new_variable(VariableKind::kShape)}}, {term});
    }
  }
  if (!term->dims || term->dims->empty()) return std::nullopt;
  const std::size_t rank = term->dims->size();
  if (is_literal_shape(*term) && scope.one_in(2)) {
    std::vector<std::string> entries;
    for (const std::string& dim : *term->dims) {
      const int extent = std::stoi(dim);
      if (extent < 2 || scope.one_in(3)) {
        entries.emplace_back("{}");
        continue;
      }
      const int start = static_cast<int>(scope.below(static_cast<std::uint64_t>(extent)));
      entries.push_back(slice_entry(start, extent, scope.one_in(3) ? 2 : 1));
    }
    return op_term("SliceOp", {{"indices", fmt::format("[{}]", fmt::join(entries, ", "))}}, {term});
  }
  if (rank < 2) return std::nullopt;
  if (scope.one_in(2)) {
    return op_term("PermuteOp", axis_list(random_order(rank, scope)), {term});
  }
  const std::size_t axis = scope.below(rank - 1);
  return op_term("TransposeOp",
                 {{"dim0", std::to_string(axis)}, {"dim1", std::to_string(axis + 1)}}, {term});
}

}  // namespace mir::test

#include "pattern_faults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdio>

namespace mir::test {

namespace {

using VariableKind = TermVariable::Kind;

std::optional<TermPtr> swap_operands(const TermPtr& t, TermScope&) {
  const bool counts = t->is("SubOp") || t->is("DivOp") || t->is("ConcatOp");
  if (t->is("WhereOp")) {
    return with_operands(*t, {t->operands[0], t->operands[2], t->operands[1]});
  }
  if (!counts || t->operands.size() != 2) return std::nullopt;
  return with_operands(*t, {t->operands[1], t->operands[0]});
}

std::optional<TermPtr> drop_op(const TermPtr& t, TermScope&) {
  if (!t->is("NegOp") && !t->is("AbsOp") && !t->is("ReLUOp") && !t->is("ClipOp")) {
    return std::nullopt;
  }
  return t->operands[0];
}

std::optional<TermPtr> add_negation(const TermPtr& t, TermScope& scope) {
  if (!scope.is_number(*t) || t->kind == Term::Kind::kConstant) return std::nullopt;
  return op_term("NegOp", {}, {t});
}

std::optional<TermPtr> other_constant(const TermPtr& t, TermScope&) {
  if (t->kind == Term::Kind::kConstant) {
    return constant_term(t->name == "1" ? "2" : t->name == "2" ? "3" : "1", t);
  }
  if (!t->is("ClipOp") || t->attribute("max_val").starts_with('$')) return std::nullopt;
  const std::string high(t->attribute("max_val"));
  return op_term("ClipOp", {t->attributes[0], {"max_val", high == "2" ? "3" : "2"}}, t->operands);
}

std::optional<TermPtr> other_axis(const TermPtr& t, TermScope& scope) {
  if (t->is("TransposeOp") && t->dims && t->dims->size() > 2) {
    return op_term("TransposeOp", {{"dim0", "0"}, {"dim1", "2"}}, t->operands);
  }
  if (t->is("PermuteOp") && t->attribute("axis").starts_with('[')) {
    std::vector<std::string> axes;
    for (const char c : t->attribute("axis")) {
      if (c >= '0' && c <= '9') axes.emplace_back(1, c);
    }
    if (axes.size() < 2) return std::nullopt;
    std::swap(axes[0], axes[1 + scope.below(axes.size() - 1)]);
    return op_term("PermuteOp", {{"axis", fmt::format("[{}]", fmt::join(axes, ", "))}},
                   t->operands);
  }
  const bool is_composed = t->is("PermuteOp");
  if (!is_composed) return std::nullopt;
  for (const TermVariable& each : scope.variables) {
    if (each.kind != VariableKind::kComposed || each.name != t->attribute("axis")) continue;
    const std::string name =
        scope.new_variable(VariableKind::kComposed, each.second, std::string(each.first));
    return op_term("PermuteOp", {{"axis", name}}, t->operands);
  }
  return std::nullopt;
}

std::optional<TermPtr> other_op(const TermPtr& t, TermScope&) {
  if (!is_binary(*t) || t->operands[1]->kind == Term::Kind::kConstant) return std::nullopt;
  return op_term(t->is("AddOp")   ? "SubOp"
                 : t->is("SubOp") ? "AddOp"
                 : t->is("MulOp") ? "AddOp"
                                  : "MulOp",
                 {}, t->operands);
}

std::optional<TermPtr> other_slice(const TermPtr& t, TermScope&) {
  if (!t->is("SliceOp")) return std::nullopt;
  std::string indices(t->attribute("indices"));
  int start = 0, end = 0, step = 1;
  const auto open = indices.find("{\"");
  if (open == indices.npos ||
      std::sscanf(indices.c_str() + open, "{\"start\":%d,\"end\":%d,\"step\":%d}", &start, &end,
                  &step) != 3 ||
      start == 0) {
    return std::nullopt;
  }
  const auto close = indices.find('}', open);
  indices.replace(open, close - open + 1,
                  fmt::format("{{\"start\":{},\"end\":{},\"step\":{}}}", start - 1, end - 1, step));
  return op_term("SliceOp", {{"indices", indices}}, t->operands);
}

std::optional<TermPtr> other_operand(const TermPtr& t, TermScope&) {
  if (!is_binary(*t) || t->operands[0]->shape != t->operands[1]->shape) return std::nullopt;
  if (t->operands[1]->kind == Term::Kind::kConstant) return std::nullopt;
  return with_operands(*t, {t->operands[0], t->operands[0]});
}

constexpr std::array kFaults = {
    TermFault{"operands swapped", swap_operands}, TermFault{"op dropped", drop_op},
    TermFault{"negation added", add_negation},    TermFault{"constant changed", other_constant},
    TermFault{"other axis", other_axis},          TermFault{"other op", other_op},
    TermFault{"other slice", other_slice},        TermFault{"other operand", other_operand},
};

}  // namespace

std::span<const TermFault> term_faults() {
  return kFaults;
}

}  // namespace mir::test

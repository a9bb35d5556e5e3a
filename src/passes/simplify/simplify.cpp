// Rewrites that follow from the facts in an op's row.
#include <algorithm>

#include "dialects/all_of_dimension.hpp"
#include "dialects/quantisation.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/equivalence.hpp"
#include "passes/simplify/joined_slices.hpp"
#include "passes/simplify/slice_bounds.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

PatternMatch failed(std::string_view condition, const Op& at) {
  return PatternMatch::failed(condition, at);
}

/// Why a value cannot replace a result; empty if it can.
std::string_view why_not(const Value& value, const Value& result) {
  if (value.type() != result.type()) return "the operand and the result have different types";
  const bool is_noted =
      !result.attributes().empty() && !std::ranges::equal(result.attributes(), value.attributes());
  if (is_noted) return "the result has attributes that the operand does not have";
  if (result.has_symbol()) return "the result has a symbol";
  return "";
}

/// Why f(f(x)) need not be what the traits of an op say for this operand; empty if it is. It is if
/// the op only moves elements, and otherwise for numbers: arithmetic on codes rounds and saturates.
std::string_view why_inexact(const Op& op, std::uint32_t operand) {
  if (op.has(Trait::kMoves)) return "";
  const TensorType* type = op.operand(operand)->tensor_type();
  if (type == nullptr || !type->dtype()) return "the element type is unknown";
  const bool is_code = holds_codes(*type, operand_quant_spec(op, operand));
  return is_code || holds_codes(*op.operand(operand)) ? "the elements are codes" : "";
}

/// The op that defines the one operand of an op, if both are the same operation.
PatternMatch match_pair(Op& op) {
  if (op.operand_count() != 1 || op.result_count() != 1) {
    return failed("the op does not have one operand and one result", op);
  }
  Op* before = op.operand(0)->defining_op();
  if (before == nullptr || before->kind() != op.kind() || before->operand_count() != 1) {
    return failed("no op of the same kind defines the operand", op);
  }
  if (!are_same_operation(op, *before)) return failed("the attributes differ", *before);
  if (!states_only_row_attributes(op)) return failed("the op has marks", op);
  for (const Op* each : {before, &op}) {
    if (!have_same_quantisation(*each, 0, 0)) return failed("the op changes the scale", *each);
  }
  if (const auto why = why_inexact(op, 0); !why.empty()) return failed(why, op);
  return PatternMatch::of({&op, before});
}

/// f(f(x)) -> x
PatternMatch match_involution(Op& op) {
  PatternMatch pair = match_pair(op);
  if (!pair) return pair;
  Op& before = *pair.ops()[1];
  if (!std::ranges::equal(before.result()->attributes(), op.result()->attributes()))
    return failed("the value between has other attributes", before);
  const std::string_view reason = why_not(*before.operand(0), *op.result());
  if (!reason.empty()) return failed(reason, op);
  return PatternMatch::of({&op, &before}, {before.operand(0)});
}

/// f(f(x)) -> f(x)
PatternMatch match_idempotent(Op& op) {
  PatternMatch pair = match_pair(op);
  if (!pair) return pair;
  const auto dtype = op.operand(0)->tensor_type()->dtype();
  if (info(*dtype).type_class == DTypeClass::kComplex) {
    return failed("the elements are complex", op);
  }
  Op& before = *pair.ops()[1];
  const std::string_view reason = why_not(*before.result(), *op.result());
  if (!reason.empty()) return failed(reason, op);
  return PatternMatch::of({&op, &before}, {before.result()});
}

/// An op whose result has the bytes and the type of its operand. If an extent is unknown, equal
/// types do not imply equal extents.
PatternMatch match_identity(Op& op) {
  if (op.operand_count() != 1 || op.result_count() != 1) {
    return failed("the op does not have one operand and one result", op);
  }
  if (!states_only_row_attributes(op)) return failed("the op has marks", op);
  const TensorType* type = op.result()->tensor_type();
  if (type == nullptr || std::ranges::any_of(type->dims(), &Dim::is_unknown)) {
    return failed("an extent of the result is unknown", op);
  }
  if (!have_same_quantisation(op, 0, 0)) return failed("the op changes the scale", op);
  const std::string_view reason = why_not(*op.operand(0), *op.result());
  if (!reason.empty()) return failed(reason, op);
  return PatternMatch::of({&op}, {op.operand(0)});
}

/// A slice without bounds; others that select all get this form first.
PatternMatch match_whole_slice(Op& slice) {
  const Attr* indices = slice.attribute(key::kIndices);
  const bool has_bounds = indices == nullptr || indices->kind() != AttrKind::kArray ||
                          !std::ranges::all_of(indices->elements(),
                                               [](const Attr* entry) { return takes_all(*entry); });
  return has_bounds ? failed("the slice has bounds", slice) : match_identity(slice);
}

/// Replaces the root by the value that the match holds.
void replace_root(Rewriter& rewriter, const PatternMatch& match) {
  Value* const values[] = {&match.value(0)};
  rewriter.replace(match.root(), values);
}

/// Adds the ops between `value` and the operands of the last op, which a fold has looked at.
/// Returns false if `value` is not found.
bool add_ops_up_to(const Value& value, std::vector<Op*>& ops) {
  constexpr std::size_t kMostOps = 8;
  const Op& last = *ops.back();
  for (std::uint32_t i = 0; i < last.operand_count(); ++i) {
    const Value* operand = last.operand(i);
    if (operand == &value) return true;
    Op* before = operand->defining_op();
    if (before == nullptr || ops.size() == kMostOps) continue;
    ops.push_back(before);
    if (add_ops_up_to(value, ops)) return true;
    ops.pop_back();
  }
  return false;
}

/// An op whose row folds it to existing values or to constants.
PatternMatch match_fold(Op& op) {
  const std::vector<FoldedResult> results = op.row()->fold(op);
  if (results.empty()) return failed("the op does not fold", op);
  if (results.size() != op.result_count() || !is_pure(op)) {
    return failed("the fold of the op is wrong", op);
  }
  std::vector<Op*> ops{&op};
  for (const Value& result : op.results()) {
    const FoldedResult& folded = results[result.index()];
    if ((folded.value == nullptr) == (folded.constant == nullptr)) {
      return failed("the fold of the op is wrong", op);
    }
    const TensorType* type = result.tensor_type();
    const bool is_moved = folded.value != nullptr && op.has(Trait::kMoves);
    if (!is_moved && type != nullptr && holds_codes(*type, result_quant_spec(op, result.index())))
      return failed("the result holds codes", op);
    const Value& value = folded.value != nullptr ? *folded.value : result;
    const std::string_view reason = why_not(value, result);
    if (!reason.empty()) return failed(reason, op);
    if (folded.value != nullptr && op.result_count() == 1) add_ops_up_to(value, ops);
  }
  return PatternMatch::of(std::move(ops));
}

void fold(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  std::vector<Value*> values;
  for (const FoldedResult& folded : op.row()->fold(op)) {
    const NamedAttr numbers{key::kConstant, folded.constant};
    values.push_back(
        folded.value != nullptr
            ? folded.value
            : rewriter.constant(*op.parent_region(), {.type = op.result(values.size())->type(),
                                                      .attributes = {&numbers, 1}}));
  }
  rewriter.replace(op, values);
}

bool is_constant(const Value& value) {
  return value.is_free() && !value.has_symbol();
}

/// c + x -> x + c, where the type of x alone is that of the result: the first operand decides the
/// device and the encoding.
PatternMatch match_constant_first(Op& op) {
  if (!is_commutative(op)) return failed("the op does not have two operands", op);
  const Value &first = *op.operand(0), &second = *op.operand(1);
  if (!is_constant(first) || is_constant(second)) {
    return failed("not only the first operand is a constant", op);
  }
  if (first.type() != second.type() && second.type() != op.result()->type()) {
    return failed("the type of the result is not that of the second operand", op);
  }
  return PatternMatch::of({&op}, {op.operand(0), op.operand(1)});
}

void swap_operands(Rewriter& rewriter, const PatternMatch& match) {
  rewriter.set_operand(match.root(), 0, &match.value(1));
  rewriter.set_operand(match.root(), 1, &match.value(0));
}

PatternSet simplifications() {
  constexpr RewriteClaim kSameValue{.kind = RewriteClaim::Kind::kValue};
  PatternSet set;
  set.add({.name = "fold",
           .benefit = 4,
           .roots = {.must_fold = true},
           .claim = kSameValue,
           .match = match_fold,
           .rewrite = fold});
  set.add({.name = "fold-identity",
           .benefit = 3,
           .roots = {.traits = Trait::kSameBytes},
           .match = match_identity,
           .rewrite = replace_root});
  set.add({.name = "fold-involution",
           .benefit = 2,
           .roots = {.traits = Trait::kInvolution},
           .claim = kSameValue,
           .match = match_involution,
           .rewrite = replace_root});
  set.add({.name = "fold-idempotent",
           .benefit = 2,
           .roots = {.traits = Trait::kIdempotent},
           .match = match_idempotent,
           .rewrite = replace_root});
  set.add({.name = "move-constant-last",
           .roots = {.traits = Trait::kCommutative},
           .claim = kSameValue,
           .match = match_constant_first,
           .rewrite = swap_operands});
  set.add({.name = "fold-whole-slice",
           .benefit = 3,
           .roots = {.names = {"linalg.SliceOp"}},
           .match = match_whole_slice,
           .rewrite = replace_root});
  set.add(shortest_slice_bounds());
  set.add(slice_of_concat());
  set.add(concat_of_slices());
  return set;
}

}  // namespace

void register_simplifications(PassRegistry& registry) {
  registry.add(pattern_pass(
      {.name = "simplify",
       .summary =
           "folds operations that undo or repeat each other or change nothing, and writes the "
           "bounds of slices in one way",
       .anchor = Anchor::kGraph,
       .takes = PassForm::kPortable,
       .is_idempotent = true,
       .preserves = AnalysisSet::of<Dominance, CallGraph, SymbolRanges>(),
       .patterns = [](IRContext&, const PassOptions&) { return simplifications(); }}));
}

}  // namespace mir

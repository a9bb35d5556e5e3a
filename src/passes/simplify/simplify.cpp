// Rewrites that ask an op's row what it is, not its name.
#include <algorithm>

#include "dialects/default_value.hpp"
#include "mir/rewrite_patterns.hpp"

namespace mir {

namespace {

bool has_row(const OpKindInfo& kind, Trait trait) {
  return kind.row != nullptr && has(kind.row->traits, trait);
}

/// What an op states of an attribute, or means without it.
const Attr* meant(const Op& op, const AttrRow& row) {
  const Attr* stated = op.attribute(row.name);
  return stated != nullptr ? stated : default_value(op.module().context(), row);
}

/// Whether two ops of one kind do the same to what they are given.
bool do_the_same(const Op& a, const Op& b) {
  if (a.op_name().spelling != b.op_name().spelling || a.row() == nullptr) return false;
  const auto states_known = [](const Op& op) {
    return std::ranges::all_of(op.attributes(), [&](const NamedAttr& each) {
      const std::string_view key = op.module().context().text(each.key);
      return std::ranges::find(op.row()->attributes, key, &AttrRow::name) !=
             op.row()->attributes.end();
    });
  };
  return states_known(a) && states_known(b) &&
         std::ranges::all_of(a.row()->attributes,
                             [&](const AttrRow& row) { return meant(a, row) == meant(b, row); });
}

/// Whether a value can stand for a result: it has the type, and the result says nothing of its own.
bool can_stand_for(const Value& value, const Value& result) {
  return value.type() == result.type() && result.attributes().empty() && !result.has_symbol();
}

/// The op of the same kind that gives an op its one operand; null: another one does.
Op* same_before(const Op& op) {
  if (op.operand_count() != 1 || op.result_count() != 1) return nullptr;
  Op* before = op.operand(0)->defining_op();
  return before != nullptr && before->kind() == op.kind() && before->operand_count() == 1 &&
                 do_the_same(op, *before)
             ? before
             : nullptr;
}

bool replace_by(Rewriter& rewriter, Op& op, Value& value) {
  if (!can_stand_for(value, *op.result())) return false;
  Value* const values[] = {&value};
  rewriter.replace(op, values);
  return true;
}

/// f(f(x)) -> x
bool undo(Rewriter& rewriter, Op& op) {
  const Op* before = same_before(op);
  // What says something of the value between would be lost with it.
  return before != nullptr && before->result()->attributes().empty() &&
         replace_by(rewriter, op, *before->operand(0));
}

/// f(f(x)) -> f(x)
bool do_once(Rewriter& rewriter, Op& op) {
  const Op* before = same_before(op);
  return before != nullptr && replace_by(rewriter, op, *before->result());
}

/// An op that gives the bytes of its operand as the same type. Where an extent is unknown, equal
/// types are not equal extents.
bool leave_out(Rewriter& rewriter, Op& op) {
  if (op.operand_count() != 1 || op.result_count() != 1) return false;
  const TensorType* type = op.result()->tensor_type();
  const bool is_known = type != nullptr && std::ranges::none_of(type->dims(), &Dim::is_unknown);
  return is_known && replace_by(rewriter, op, *op.operand(0));
}

bool is_constant(const Value& value) {
  return value.is_free() && !value.has_symbol();
}

/// c + x -> x + c, where x alone says what the result is: the first operand decides its device and
/// encoding.
bool put_constant_last(Rewriter& rewriter, Op& op) {
  if (!is_commutative(op) || !is_constant(*op.operand(0)) || is_constant(*op.operand(1))) {
    return false;
  }
  Value *const constant = op.operand(0), *const other = op.operand(1);
  if (constant->type() != other->type() && other->type() != op.result()->type()) return false;
  rewriter.set_operand(op, 0, other);
  rewriter.set_operand(op, 1, constant);
  return true;
}

PatternSet simplifications() {
  const auto with = [](Trait trait) {
    return [trait](const OpKindInfo& kind) { return has_row(kind, trait); };
  };
  PatternSet set;
  set.add(
      {.name = "same-type", .benefit = 3, .fits = with(Trait::kSameBytes), .rewrite = leave_out});
  set.add({.name = "involution", .benefit = 2, .fits = with(Trait::kInvolution), .rewrite = undo});
  set.add(
      {.name = "idempotent", .benefit = 2, .fits = with(Trait::kIdempotent), .rewrite = do_once});
  set.add(
      {.name = "constant-last", .fits = with(Trait::kCommutative), .rewrite = put_constant_last});
  return set;
}

constexpr std::string_view kExample =
    R"(@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> (%f:tensor<[2, 3], Float32, CPU>) {
    linalg.CPU.TransposeOp [dim0:0, dim1:1] (%x) -> (%a:tensor<[3, 2], Float32, CPU>)
    linalg.CPU.TransposeOp [dim0:0, dim1:1] (%a) -> (%b:tensor<[2, 3], Float32, CPU>)
    linalg.CPU.ReLUOp(%b) -> (%c:tensor<[2, 3], Float32, CPU>)
    linalg.CPU.ContiguousOp(%c) -> (%d:tensor<[2, 3], Float32, CPU>)
    linalg.CPU.ReLUOp(%d) -> (%e:tensor<[2, 3], Float32, CPU>)
    linalg.CPU.MulOp(%h:tensor<[1], Float32, CPU>[constant:[0.5]], %e) -> (%f:tensor<[2, 3], Float32, CPU>)
    cf.ReturnOp (%f) -> ()
}
)";

}  // namespace

void register_simplifications(PassRegistry& registry) {
  registry.add(
      {.name = "simplify",
       .summary = "leaves out operations that undo or repeat each other or change nothing",
       .anchor = Anchor::kGraph,
       .takes = PassForm::kPortable,
       .preserves = {AnalysisId::kDominance, AnalysisId::kCallGraph, AnalysisId::kSymbolRanges},
       .example = kExample,
       .run = [](PassRun& run) { return rewrite_greedily(run, simplifications()); }});
}

}  // namespace mir

// Moves exchanges of dimensions behind elementwise operations, so that they meet and cancel.
#include <algorithm>
#include <memory>
#include <vector>

#include "mir/equivalence.hpp"
#include "mir/tensor.hpp"
#include "passes/sink/op_motion.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

bool is_exchange(const Op* op) {
  return op != nullptr && op->is(OpId::kLinalgTranspose, OpId::kLinalgPermute);
}

/// One number that broadcasts to any shape, of this rank at most.
bool is_scalar(const Value& value, std::size_t rank) {
  const TensorType* type = value.tensor_type();
  return type != nullptr && type->element_count() == 1 && type->rank() <= rank;
}

struct ExchangePlan {
  std::vector<Value*> operands;  // as before the exchanges
  const Type* type = nullptr;    // of the result before the exchange
};

/// f(exchange(x)) -> exchange(f(x)), where each operand is exchanged in the same way or one number.
PatternMatch match_behind_exchange(Op& op) {
  const auto failed = [&](std::string_view why) { return PatternMatch::failed(why, op); };
  if (const auto why = why_fixed(op); !why.empty()) return failed(why);
  const TensorType* result = op.result()->tensor_type();
  std::vector<Op*> matched = {&op};
  auto plan = std::make_shared<ExchangePlan>();
  std::vector<const Type*> types;
  for (const Use& use : op.operand_uses()) {
    Value& value = *use.value();
    Op* before = value.defining_op();
    if (is_scalar(value, result->rank())) {
      plan->operands.push_back(&value);
    } else if (!is_exchange(before) || before->block() != op.block() || value.use_count() != 1) {
      return failed("an operand is no exchange of dimensions with one user");
    } else if (const auto why = why_fixed(*before); !why.empty()) {
      return failed(why);
    } else if (!std::ranges::equal(value.tensor_type()->dims(), result->dims())) {
      return failed("an operand is broadcast");
    } else if (matched.size() > 1 && !are_same_operation(*matched[1], *before)) {
      return failed("the operands are exchanged in different ways");
    } else {
      matched.push_back(before);
      plan->operands.push_back(before->operand(0));
    }
    types.push_back(plan->operands.back()->type());
  }
  if (matched.size() == 1) return failed("no operand is an exchange of dimensions");
  plan->type = type_with(op, types);
  if (plan->type == nullptr) return failed("the op does not take the operands as they were");
  if (type_with(*matched[1], std::span(&plan->type, 1)) != op.result()->type()) {
    return failed("the result would have another type");
  }
  return PatternMatch::of(std::move(matched), {}, std::move(plan));
}

void move_exchange(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  const Op& exchange = *match.ops()[1];
  const ExchangePlan& plan = match.plan<ExchangePlan>();
  const Type* type = op.result()->type();
  rewriter.set_operands(op, plan.operands);
  rewriter.set_type(*op.result(), plan.type);
  rewriter.set_insertion_point_after(op);
  Value* computed = op.result();
  Op* moved = create_with(rewriter, exchange, std::span(&computed, 1), type);
  rewriter.replace_uses_if(*computed, *moved->result(),
                           [&](const Use& use) { return use.user() != moved; });
}

}  // namespace

Pass sink_transposes_pass() {
  return pattern_pass({.name = "sink-transposes",
                       .summary = "moves exchanges of dimensions behind elementwise operations",
                       .anchor = Anchor::kGraph,
                       .takes = PassForm::kPortable,
                       .is_idempotent = true,
                       .preserves = AnalysisSet::of<CallGraph, SymbolRanges>(),
                       .patterns = [](IRContext&, const PassOptions&) {
                         PatternSet set;
                         set.add({.name = "sink-transposes",
                                  .roots = {.traits = Trait::kElementwise},
                                  .makes = {"linalg.TransposeOp", "linalg.PermuteOp"},
                                  .match = match_behind_exchange,
                                  .rewrite = move_exchange});
                         return set;
                       }});
}

}  // namespace mir

// GenericOp: the walk by several threads, or the reference kernel where the walk does not apply.
#include "dialects/generic_form.hpp"
#include "mir/module.hpp"
#include "mir/op_attributes.hpp"
#include "plan/generic_walker.hpp"
#include "plan/nodes/declared.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

std::optional<GenericForm> form_of(const Op& op) {
  return read_generic({.context = op.module().context(),
                       .attribute = [&](AttrKey key) { return op.attribute(key); },
                       .operand_count = op.operand_count(),
                       .result_count = op.result_count()},
                      [](const GenericProblem&) {});
}

/// True if the region takes and gives numbers of the types that belong to operands and results.
bool has_numbers_of(const Op& op) {
  const Region* region = op.first_region();
  const bool is_one_block = region != nullptr && !region->empty() && !region->has_several_blocks();
  const Op* end = is_one_block ? region->only_block().back() : nullptr;
  if (end == nullptr || end->operand_count() != op.result_count() ||
      region->entry_arguments().size() != op.operand_count()) {
    return false;
  }
  const auto fits = [](const Value& number, const Value& value) {
    const TensorType* type = number.held_type();
    const auto dtype = dtype_of(value);
    return type != nullptr && type->rank() == 0 && dtype &&
           type->dtype() == accumulation_type(*dtype);
  };
  for (const Use& use : op.operand_uses()) {
    if (!fits(region->entry_arguments()[use.index()], *use.value())) return false;
  }
  for (const Value& value : op.results()) {
    if (!fits(*end->operand(value.index()), value)) return false;
  }
  return true;
}

/// Operands of any strides, row-major results.
class GenericNode final : public OpNode {
 public:
  GenericNode(const PlannedStep& step, GenericForm form) : OpNode(step), form_(std::move(form)) {}

  Result<void> run(Frame& frame) const override {
    std::vector<TensorRef> values;
    for (const PlanValueIndex index : operands()) values.push_back(frame[index]);
    for (std::uint32_t i = 0; i < form_.results.size(); ++i) {
      if (!walk_generic(op(), form_, i, values, frame[results()[i]], frame.environment,
                        frame.context)) {
        return run_reference(frame);
      }
    }
    return {};
  }

 private:
  Result<void> run_reference(Frame& frame) const {
    std::vector<Tensor> values;
    for (const PlanValueIndex index : operands()) {
      auto tensor = frame.tensor(index);
      if (!tensor) return std::move(tensor).error();
      values.push_back(*std::move(tensor));
    }
    auto computed = evaluate(op(), values, frame.environment);
    if (!computed) return std::move(computed).error();
    return deliver(op(), *this, *std::move(computed), frame);
  }

  GenericForm form_;
};

}  // namespace

bool can_walk(const Op& op) {
  return form_of(op).has_value() && has_numbers_of(op);
}

std::unique_ptr<PlanNode> generic_node(const FastStep& step) {
  return std::make_unique<GenericNode>(step, *form_of(*step.op));
}

}  // namespace mir

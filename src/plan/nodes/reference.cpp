// The node that computes any op by its reference kernel.
#include <fmt/format.h>

#include <utility>

#include "plan/nodes/declared.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

class ReferenceNode final : public OpNode {
 public:
  ReferenceNode(const PlannedStep& step, KernelSet kernels) : OpNode(step), kernels_(kernels) {}

  Result<void> run(Frame& frame) const override {
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

  bool looks_up_parameters() const override { return true; }

  std::string name() const override {
    return fmt::format("{}{}", op().info().mnemonic, kernels_ == KernelSet::kFast ? " (ref)" : "");
  }

 private:
  KernelSet kernels_;
};

}  // namespace

std::unique_ptr<PlanNode> reference_node(const PlannedStep& step, KernelSet kernels) {
  return std::make_unique<ReferenceNode>(step, kernels);
}

}  // namespace mir

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plan/nodes/nodes.hpp"

namespace mir {

namespace {

class ReferenceNode final : public PlanNode {
 public:
  ReferenceNode(std::size_t step, const Op& op, std::vector<PlanSlot> operands,
                std::vector<PlanSlot> results)
      : PlanNode(step, std::move(operands), std::move(results)), op_(op) {}

  Result<void> run(Frame& frame) const override {
    std::vector<Tensor> values;
    for (const PlanSlot slot : operands()) {
      auto tensor = to_tensor(frame[slot], frame.context);
      if (!tensor) return tensor.error();
      values.push_back(*std::move(tensor));
    }
    const auto computed = evaluate(op_, values, frame.environment);
    if (!computed) return computed.error();
    for (std::size_t i = 0; i < results().size(); ++i) {
      if (auto ok = store((*computed)[i], i, frame); !ok) return ok;
    }
    return {};
  }

  Work work(const Frame& frame) const override {
    const auto extents_of = [&](const std::vector<PlanSlot>& slots) {
      std::vector<TensorExtents> extents;
      for (const PlanSlot slot : slots) extents.push_back(frame[slot].type());
      return extents;
    };
    return work_of(op_, extents_of(operands()), extents_of(results()),
                   *frame.environment.parameters);
  }

  std::string name() const override { return fmt::format("{} (ref)", op_.info().mnemonic); }

 private:
  Result<void> store(const Tensor& tensor, std::size_t number, Frame& frame) const {
    const TensorRef& to = frame[results()[number]];
    if (tensor.dtype() != to.dtype || !std::ranges::equal(tensor.shape(), to.shape())) {
      return Error{
          DiagCode::kResultMismatch,
          fmt::format("result {} of '{}' is {} [{}], declared is {} [{}]", number,
                      op_.info().mnemonic, name_of(tensor.dtype()), fmt::join(tensor.shape(), ", "),
                      name_of(to.dtype), fmt::join(to.shape(), ", "))};
    }
    assign(to, tensor, frame.context);
    return {};
  }

  const Op& op_;
};

}  // namespace

std::unique_ptr<PlanNode> reference_node(std::size_t step, const Op& op,
                                         std::vector<PlanSlot> operands,
                                         std::vector<PlanSlot> results) {
  return std::make_unique<ReferenceNode>(step, op, std::move(operands), std::move(results));
}

}  // namespace mir

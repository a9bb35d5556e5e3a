#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "plan/nodes/nodes.hpp"

namespace mir {

namespace {

/// Whether result `number` of the op is what its type declares. Symbols without a value get one.
Result<void> check_result(const Op& op, std::uint32_t number, const Tensor& tensor,
                          Binder& binder) {
  const TensorType* declared = op.result(number)->tensor_type();
  const auto mismatch = [&](std::string_view why) {
    return Error{
        DiagCode::kResultMismatch,
        fmt::format("result {} of '{}' is {} [{}], declared is {}{}", number, op.info().mnemonic,
                    name_of(tensor.dtype()), fmt::join(tensor.shape(), ", "),
                    declared == nullptr ? "no tensor" : declared->spelling(), why)};
  };
  if (declared == nullptr || declared->rank() != tensor.shape().size() ||
      (declared->dtype() && *declared->dtype() != tensor.dtype())) {
    return mismatch("");
  }
  for (std::size_t dim = 0; dim < declared->rank(); ++dim) {
    const auto outcome = binder.require(declared->dims()[dim], tensor.shape()[dim],
                                        {.kind = DimPlace::Kind::kResult,
                                         .dim = dim,
                                         .number = number,
                                         .name = op.info().mnemonic});
    if (!outcome) return mismatch(fmt::format(": {}", outcome.error().message));
  }
  return {};
}

class ReferenceNode final : public PlanNode {
 public:
  ReferenceNode(const PlannedStep& step, KernelSet kernels)
      : PlanNode(step), op_(*step.op), kernels_(kernels) {}

  Result<void> run(Frame& frame) const override {
    std::vector<Tensor> values;
    for (const PlanValueIndex index : operands()) {
      auto tensor = frame.tensor(index);
      if (!tensor) return std::move(tensor).error();
      values.push_back(*std::move(tensor));
    }
    auto computed = evaluate(op_, values, frame.environment);
    if (!computed) return std::move(computed).error();
    for (std::uint32_t i = 0; i < computed->size(); ++i) {
      if (auto ok = check_result(op_, i, (*computed)[i], frame.binder); !ok) return ok;
    }
    for (std::size_t i = 0; i < results().size(); ++i) {
      frame.set(results()[i], std::move((*computed)[i]));
    }
    return {};
  }

  bool looks_up_parameters() const override { return true; }

  Work work(const Frame& frame) const override {
    const auto extents_of = [&](const std::vector<PlanValueIndex>& indices) {
      std::vector<TensorExtents> extents;
      for (const PlanValueIndex index : indices) extents.push_back(frame.extents(index));
      return extents;
    };
    return work_of(op_, extents_of(operands()), extents_of(results()),
                   *frame.environment.parameters);
  }

  std::string name() const override {
    return fmt::format("{}{}", op_.info().mnemonic, kernels_ == KernelSet::kFast ? " (ref)" : "");
  }

 private:
  const Op& op_;
  KernelSet kernels_;
};

}  // namespace

std::unique_ptr<PlanNode> reference_node(const PlannedStep& step, KernelSet kernels) {
  return std::make_unique<ReferenceNode>(step, kernels);
}

}  // namespace mir

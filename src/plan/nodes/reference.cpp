#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

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
    for (std::uint32_t i = 0; i < computed->size(); ++i) {
      if (auto ok = check_result(op(), i, (*computed)[i], frame.binder); !ok) return ok;
    }
    for (std::size_t i = 0; i < results().size(); ++i) {
      frame.set(results()[i], std::move((*computed)[i]));
    }
    return {};
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

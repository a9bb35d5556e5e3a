// Nodes of reductions, cumulative sums and softmax along a dimension.
#include "kernels/fast/reduction.hpp"

#include <algorithm>
#include <optional>

#include "mir/op_attributes.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

/// Returns operand 0 with one dimension in the middle; no value if it has no such dimension.
std::optional<fast::ReduceOperands> around(const TensorRef& x, std::int64_t dim) {
  if (dim < 0) dim += x.rank;
  if (dim < 0 || dim >= x.rank) return std::nullopt;
  fast::ReduceOperands operands{.x = x.floats()};
  for (std::int64_t i = 0; i < x.rank; ++i) {
    const std::int64_t extent = x.extents[static_cast<std::size_t>(i)];
    if (i < dim) operands.outer *= extent;
    if (i == dim) operands.length = extent;
    if (i > dim) operands.inner *= extent;
  }
  return operands;
}

class ReductionNode final : public OpNode {
 public:
  ReductionNode(const PlannedStep& step, fast::Reduction function)
      : OpNode(step), function_(function), reference_(reference_node(step)) {
    const Attr* dim = op().attribute(key::kDim);
    constexpr std::int64_t kAllDimensions = 2147483647;
    if (dim != nullptr && dim->kind() == AttrKind::kInt && dim->integer() != kAllDimensions) {
      dim_ = dim->integer();
    }
  }

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    auto reduced =
        dim_ ? around(x, *dim_)
             : std::optional(fast::ReduceOperands{.x = x.floats(), .length = x.elements()});
    // Reducing nothing to an extreme is an error, which the reference kernel knows.
    const bool is_plain = reduced && reduced->length != 0;
    if (!is_plain) return reference_->run(frame);
    if (reduced->outer * reduced->inner != out.elements()) {
      return require(false, "the result does not have the remaining extents");
    }
    reduced->out = out.floats();
    fast::reduce(function_, *reduced, frame.context);
    return {};
  }

 private:
  fast::Reduction function_;
  std::optional<std::int64_t> dim_;  // none: all
  std::unique_ptr<PlanNode> reference_;
};

class CumSumNode final : public OpNode {
 public:
  explicit CumSumNode(const PlannedStep& step) : OpNode(step) {
    const OpAttributes attributes(op());
    dim_ = attributes.integer(key::kDim);
    exclusive_ = attributes.boolean(key::kExclusive);
    if (attributes.boolean(key::kReverse)) order_ = fast::SumOrder::kReverse;
  }

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    auto along = around(x, dim_);
    if (!along || !std::ranges::equal(x.shape(), out.shape())) {
      return require(false, "the result does not have the extents of the operand");
    }
    along->out = out.floats();
    fast::cum_sum(*along, order_, exclusive_, frame.context);
    return {};
  }
  bool may_overwrite(std::size_t) const override { return true; }

 private:
  std::int64_t dim_ = 0;
  bool exclusive_ = false;
  fast::SumOrder order_ = fast::SumOrder::kForward;
};

/// Softmax over any dimension.
class SoftmaxAlongNode final : public OpNode {
 public:
  SoftmaxAlongNode(const PlannedStep& step, std::int64_t axis) : OpNode(step), axis_(axis) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    auto operands = around(x, axis_);
    if (!operands || !std::ranges::equal(x.shape(), out.shape())) {
      return require(false, "the result does not have the extents of the operand");
    }
    operands->out = out.floats();
    fast::softmax_along(*operands, frame.context);
    return {};
  }

 private:
  std::int64_t axis_;
};

}  // namespace

std::unique_ptr<PlanNode> reduction_node(const FastStep& step) {
  return std::make_unique<ReductionNode>(step, std::get<fast::Reduction>(step.row.function));
}

std::unique_ptr<PlanNode> cum_sum_node(const FastStep& step) {
  return std::make_unique<CumSumNode>(step);
}

std::unique_ptr<PlanNode> softmax_along_node(const PlannedStep& step, std::int64_t axis) {
  return std::make_unique<SoftmaxAlongNode>(step, axis);
}

}  // namespace mir

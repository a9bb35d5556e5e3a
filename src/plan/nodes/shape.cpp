// Extent and MatchShape: extents of values as numbers, and conditions on them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "mir/codes/shapes.hpp"
#include "mir/op_attributes.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

class ExtentNode final : public OpNode {
 public:
  using OpNode::OpNode;

  Result<void> run(Frame& frame) const override {
    const TensorRef& x = frame[operands()[0]];
    std::int64_t axis = OpAttributes(op()).integer(key::kDim);
    if (axis < 0) axis += x.rank;
    if (axis < 0 || axis >= x.rank) return require(false, "x has no such dimension");
    *reinterpret_cast<std::int64_t*>(frame[results()[0]].data) =
        x.extents[static_cast<std::size_t>(axis)];
    return {};
  }
};

/// Compares the extents of a value with those of its view, which the plan makes.
class MatchShapeNode final : public PlanNode {
 public:
  MatchShapeNode(std::size_t step, const Op& op, PlanValueIndex from, PlanValueIndex view)
      : PlanNode(step, {from}, {}), op_(op), view_(view) {}

  Result<void> run(Frame& frame) const override {
    const auto found = frame[operands()[0]].shape(), stated = frame[view_].shape();
    if (std::ranges::equal(found, stated)) return {};
    return Error{diag::kShapeMismatch,
                 fmt::format("operand 0 of '{}' is [{}], 'shape' is [{}]", op_.info().mnemonic,
                             fmt::join(found, ", "), fmt::join(stated, ", "))};
  }
  std::string name() const override { return short_name(op_); }
  Work work(const Frame&) const override { return {}; }

 private:
  const Op& op_;
  PlanValueIndex view_;
};

}  // namespace

std::unique_ptr<PlanNode> extent_node(const FastStep& step) {
  return std::make_unique<ExtentNode>(step);
}

std::unique_ptr<PlanNode> match_shape_node(std::size_t step, const Op& op, PlanValueIndex from,
                                           PlanValueIndex view) {
  return std::make_unique<MatchShapeNode>(step, op, from, view);
}

}  // namespace mir

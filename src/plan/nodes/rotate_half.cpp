// The node of a fused group that rotates halves by products with sines and cosines.
#include <algorithm>

#include "kernels/fast/rope.hpp"
#include "plan/nodes/broadcast.hpp"
#include "plan/nodes/nodes.hpp"

namespace mir {

namespace {

using Strides = fast::RotateHalfOperands::Strides;

/// Returns the strides of the dimensions before the last one.
Strides leading_strides(const TensorRef& value) {
  Strides strides = {};
  std::copy_n(value.strides.begin(), value.rank - 1, strides.begin());
  return strides;
}

class RotateHalfNode final : public PlanNode {
 public:
  RotateHalfNode(std::size_t step, const RotationValues& values)
      : PlanNode(step, {values.x, values.cos, values.sin}, {values.out}) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &cos = frame[operands()[1]],
                    &sin = frame[operands()[2]], &out = frame[results()[0]];
    const bool fits = std::ranges::equal(x.shape(), out.shape()) && x.has_rows() &&
                      out.has_rows() && out.extent(1) % 2 == 0 && is_table(cos, out) &&
                      is_table(sin, out);
    if (!fits) return require(false, kNoBroadcast);
    fast::RotateHalfOperands operands{.x = x.floats(),
                                      .cos = cos.floats(),
                                      .sin = sin.floats(),
                                      .out = out.floats(),
                                      .rank = out.rank - std::size_t{1},
                                      .width = out.extent(1),
                                      .x_strides = leading_strides(x),
                                      .cos_strides = broadcast(cos, out).strides,
                                      .sin_strides = broadcast(sin, out).strides,
                                      .out_strides = leading_strides(out)};
    std::copy_n(out.extents.begin(), operands.rank, operands.extents.begin());
    fast::rotate_half(operands, frame.context);
    return {};
  }

  /// Three operations for each element.
  Work work(const Frame& frame) const override {
    Work work = PlanNode::work(frame);
    work.flop = 3 * static_cast<double>(frame[results()[0]].elements());
    return work;
  }

  std::string name() const override { return "rotate_half"; }
  bool writes_strided() const override { return true; }
  bool may_overwrite(std::size_t operand) const override { return operand == 0; }

 private:
  static bool is_table(const TensorRef& table, const TensorRef& out) {
    return table.rank > 0 && table.extent(1) == out.extent(1) && all_broadcast({&table}, out);
  }
};

}  // namespace

std::unique_ptr<PlanNode> rotate_half_node(std::size_t step, const RotationValues& values) {
  return std::make_unique<RotateHalfNode>(step, values);
}

}  // namespace mir

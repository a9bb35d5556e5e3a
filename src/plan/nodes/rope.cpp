// Nodes of rotary position embedding, also for multimodal and vision models.
#include "kernels/fast/rope.hpp"

#include <algorithm>

#include "mir/op_attributes.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

/// Layout of the operand of an op, and the part of it that rotates.
struct RotationForm {
  std::size_t head_axis = 1;
  std::int64_t rotated = -1;  ///< elements of each row from the first on; -1: all
};

class RopeNode final : public OpNode {
 public:
  RopeNode(const PlannedStep& step, const RotationForm& form)
      : OpNode(step), reference_(reference_node(step)), form_(form) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &sin = frame[operands()[1]],
                    &cos = frame[operands()[2]], &out = frame[results()[0]];
    const bool fits =
        x.rank == 4 && std::ranges::equal(x.shape(), out.shape()) && x.has_rows() && out.has_rows();
    if (!fits || !std::ranges::equal(sin.shape(), cos.shape())) return reference_->run(frame);
    const std::size_t position_axis = 3 - form_.head_axis;
    fast::RopeOperands rope{.x = x.floats(),
                            .out = out.floats(),
                            .batches = x.extents[0],
                            .heads = x.extents[form_.head_axis],
                            .positions = x.extents[position_axis],
                            .width = x.extents[3],
                            .sin = sin.floats(),
                            .cos = cos.floats(),
                            .rotated = form_.rotated == -1 ? x.extents[3] : form_.rotated};
    const std::size_t axes[] = {0, form_.head_axis, position_axis};
    for (std::size_t i = 0; i < 3; ++i) {
      rope.x_strides[i] = x.strides[axes[i]];
      rope.out_strides[i] = out.strides[axes[i]];
    }
    if (auto ok = set_tables(sin, rope); !ok) return ok;
    fast::rope(rope, frame.context);
    return {};
  }

  bool writes_strided() const override { return true; }
  bool may_overwrite(std::size_t operand) const override { return operand == 0; }

 private:
  /// Tables are [S, T] or [B or 1, S, T] in row-major order.
  Result<void> set_tables(const TensorRef& sin, fast::RopeOperands& rope) const {
    const bool is_table = sin.rank == 2 || sin.rank == 3;
    const bool rotates = rope.rotated >= 0 && rope.rotated <= rope.width && rope.rotated % 2 == 0;
    if (!is_table || !rotates || sin.extent(2) != rope.positions ||
        sin.extent(1) < rope.rotated / 2) {
      return require(false, "the tables do not fit the operand");
    }
    rope.table_stride = sin.extent(1);
    const std::int64_t batches = sin.rank == 3 ? sin.extents[0] : 1;
    if (batches != 1) rope.table_batch_stride = sin.extent(1) * sin.extent(2);
    return require(batches == 1 || batches == rope.batches,
                   "the tables have another number of batches");
  }

  std::unique_ptr<PlanNode> reference_;  // for operands in other orders
  RotationForm form_;
};

std::size_t stated_head_axis(const Op& op) {
  return OpAttributes(op).string(key::kInputType) == "BSHD" ? 2 : 1;
}

}  // namespace

std::unique_ptr<PlanNode> rope_node(const FastStep& step) {
  const RotationForm form{.head_axis = stated_head_axis(*step.op),
                          .rotated = OpAttributes(*step.op).integer(key::kPartialDim)};
  return std::make_unique<RopeNode>(step, form);
}

std::unique_ptr<PlanNode> multimodal_rope_node(const FastStep& step) {
  return std::make_unique<RopeNode>(step, RotationForm{.head_axis = stated_head_axis(*step.op)});
}

std::unique_ptr<PlanNode> vision_rope_node(const FastStep& step) {
  return std::make_unique<RopeNode>(step, RotationForm{.head_axis = 2});
}

}  // namespace mir

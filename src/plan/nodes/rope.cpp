#include "kernels/fast/rope.hpp"

#include <algorithm>

#include "eval/attributes.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/owned.hpp"

namespace mir {

namespace {

class RopeNode final : public PlanNode {
 public:
  explicit RopeNode(const PlannedStep& step)
      : PlanNode(step), op_(*step.op), reference_(reference_node(step)) {
    const AttributeReader attributes(*step.op);
    const bool is_vision = step.op->is(OpId::kLinalgVisionRoPE);
    head_axis_ = is_vision || attributes.string("input_type") == "BSHD" ? 2 : 1;
    if (step.op->is(OpId::kLinalgRoPE)) partial_ = attributes.integer("partial_dim");
  }

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &sin = frame[operands()[1]],
                    &cos = frame[operands()[2]], &out = frame[results()[0]];
    const bool fits =
        x.rank == 4 && std::ranges::equal(x.shape(), out.shape()) && x.has_rows() && out.has_rows();
    if (!fits || !std::ranges::equal(sin.shape(), cos.shape())) return reference_->run(frame);
    const std::size_t position_axis = 3 - head_axis_;
    fast::RopeOperands rope{.x = x.floats(),
                            .out = out.floats(),
                            .batches = x.extents[0],
                            .heads = x.extents[head_axis_],
                            .positions = x.extents[position_axis],
                            .width = x.extents[3],
                            .sin = sin.floats(),
                            .cos = cos.floats(),
                            .rotated = partial_ == -1 ? x.extents[3] : partial_};
    const std::size_t axes[] = {0, head_axis_, position_axis};
    for (std::size_t i = 0; i < 3; ++i) {
      rope.x_strides[i] = x.strides[axes[i]];
      rope.out_strides[i] = out.strides[axes[i]];
    }
    if (auto ok = set_tables(sin, rope); !ok) return ok;
    fast::rope(rope, frame.context);
    return {};
  }

  std::string name() const override { return short_name(op_); }
  OperandOrder operand_order(std::size_t operand) const override {
    return operand == 0 ? OperandOrder::kRows : OperandOrder::kRowMajor;
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

  const Op& op_;
  std::unique_ptr<PlanNode> reference_;  // for operands in other orders
  std::size_t head_axis_ = 1;
  std::int64_t partial_ = -1;
};

}  // namespace

std::unique_ptr<PlanNode> rope_node(const PlannedStep& step, const ParameterTable&) {
  const Op& op = *step.op;
  for (const Use& use : op.operand_uses()) {
    const TensorType* type = use.value()->tensor_type();
    if (type == nullptr || type->dtype() != DType::kFloat32) return nullptr;
  }
  return op.operand_count() == 3 ? std::make_unique<RopeNode>(step) : nullptr;
}

}  // namespace mir

// Nodes of selection, comparisons, logic and conversions between types.
#include "kernels/fast/select.hpp"

#include <algorithm>

#include "kernels/fast/compare.hpp"
#include "plan/nodes/broadcast.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

/// Operand numbers of the condition and of the two alternatives.
struct Choice {
  std::size_t condition, a, b;
};
constexpr Choice kWhere = {0, 1, 2};
constexpr Choice kMaskedScatter = {1, 2, 0};

class WhereNode final : public OpNode {
 public:
  WhereNode(const PlannedStep& step, const Choice& choice) : OpNode(step), choice_(choice) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &condition = frame[operands()[choice_.condition]],
                    &a = frame[operands()[choice_.a]], &b = frame[operands()[choice_.b]],
                    &out = frame[results()[0]];
    if (!all_broadcast({&condition, &a, &b}, out)) return require(false, kNoBroadcast);
    fast::select(info(out.dtype).unit_bytes, broadcast(condition, out), broadcast(a, out),
                 broadcast(b, out), result_of(out), frame.context);
    return {};
  }

 private:
  const Choice& choice_;
};

class ComparisonNode final : public OpNode {
 public:
  ComparisonNode(const PlannedStep& step, fast::Comparison comparison)
      : OpNode(step), comparison_(comparison) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &a = frame[operands()[0]], &b = frame[operands()[1]],
                    &out = frame[results()[0]];
    if (!all_broadcast({&a, &b}, out)) return require(false, kNoBroadcast);
    fast::compare(comparison_, a.dtype, broadcast(a, out), broadcast(b, out), result_of(out),
                  frame.context);
    return {};
  }

 private:
  fast::Comparison comparison_;
};

/// A logical function of one operand or two.
class LogicalNode final : public OpNode {
 public:
  LogicalNode(const PlannedStep& step, fast::Logical function)
      : OpNode(step), function_(function) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &a = frame[operands().front()], &b = frame[operands().back()],
                    &out = frame[results()[0]];
    if (!all_broadcast({&a, &b}, out)) return require(false, kNoBroadcast);
    fast::logical(function_, broadcast(a, out), broadcast(b, out), result_of(out), frame.context);
    return {};
  }
  bool may_overwrite(std::size_t) const override { return true; }

 private:
  fast::Logical function_;
};

class CastNode final : public OpNode {
 public:
  using OpNode::OpNode;

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    if (x.elements() != out.elements()) return require(false, "extents differ");
    return fast::cast(x.dtype, x.data, out.dtype, out.data, x.elements(), frame.context);
  }
};

}  // namespace

std::unique_ptr<PlanNode> where_node(const FastStep& step) {
  return std::make_unique<WhereNode>(step, kWhere);
}

std::unique_ptr<PlanNode> masked_scatter_node(const FastStep& step) {
  return std::make_unique<WhereNode>(step, kMaskedScatter);
}

std::unique_ptr<PlanNode> comparison_node(const FastStep& step) {
  return std::make_unique<ComparisonNode>(step, std::get<fast::Comparison>(step.row.function));
}

std::unique_ptr<PlanNode> logical_node(const FastStep& step) {
  return std::make_unique<LogicalNode>(step, std::get<fast::Logical>(step.row.function));
}

std::unique_ptr<PlanNode> cast_node(const FastStep& step) {
  return std::make_unique<CastNode>(step);
}

}  // namespace mir

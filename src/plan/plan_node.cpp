// Work estimates of nodes.
#include "plan/plan_node.hpp"

#include "mir/codes/shapes.hpp"

namespace mir {

Work PlanNode::work(const Frame& frame) const {
  Work work;
  for (const PlanValueIndex index : operands_) work.bytes += bytes_of(frame.extents(index));
  for (const PlanValueIndex index : results_) work.bytes += bytes_of(frame.extents(index));
  return work;
}

Work PlanNode::work_of_op(const Op& op, const Frame& frame) const {
  const auto extents_of = [&](const std::vector<PlanValueIndex>& indices) {
    std::vector<TensorExtents> extents;
    for (const PlanValueIndex index : indices) extents.push_back(frame.extents(index));
    return extents;
  };
  const auto operands = extents_of(operands_), results = extents_of(results_);
  return mir::work_of({op, operands, results, *frame.environment.parameters});
}

Error shape_error(const char* message) {
  return {diag::kShapeMismatch, message};
}

}  // namespace mir

#include "plan/plan_node.hpp"

namespace mir {

Work PlanNode::work(const Frame& frame) const {
  Work work;
  for (const PlanValueIndex index : operands_) work.bytes += bytes_of(frame[index].type());
  for (const PlanValueIndex index : results_) work.bytes += bytes_of(frame[index].type());
  return work;
}

}  // namespace mir

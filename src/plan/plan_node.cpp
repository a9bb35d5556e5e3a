#include "plan/plan_node.hpp"

namespace mir {

Work PlanNode::work(const Frame& frame) const {
  Work work;
  for (const PlanSlot slot : operands_) work.bytes += bytes_of(frame[slot].type());
  for (const PlanSlot slot : results_) work.bytes += bytes_of(frame[slot].type());
  return work;
}

}  // namespace mir

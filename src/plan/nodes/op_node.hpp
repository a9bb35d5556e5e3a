// Nodes of one op each.
#pragma once

#include <string>

#include "plan/nodes/owned.hpp"
#include "plan/plan_node.hpp"

namespace mir {

/// A node that is named after its op and does the work that the row of the op states.
class OpNode : public PlanNode {
 public:
  explicit OpNode(const PlannedStep& step) : PlanNode(step), op_(*step.op) {}

  std::string name() const override { return short_name(op_); }
  Work work(const Frame& frame) const override { return work_of_op(op_, frame); }

 protected:
  const Op& op() const { return op_; }

 private:
  const Op& op_;
};

}  // namespace mir

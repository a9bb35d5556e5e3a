// One kernel call of a plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"
#include "plan/frame.hpp"
#include "plan/step_work.hpp"

namespace mir {

/// One step of the schedule as a node sees it; operands and results in the order of the op.
struct PlannedStep {
  std::size_t number = 0;
  const Op* op = nullptr;
  std::vector<PlanValueIndex> operands;
  std::vector<PlanValueIndex> results;
};

class PlanNode {
 public:
  explicit PlanNode(const PlannedStep& step) : PlanNode(step.number, step.operands, step.results) {}
  /// `step`: the last step of the schedule that the node computes; where its errors are reported.
  PlanNode(std::size_t step, std::vector<PlanValueIndex> operands,
           std::vector<PlanValueIndex> results)
      : step_(step), operands_(std::move(operands)), results_(std::move(results)) {}
  virtual ~PlanNode() = default;
  PlanNode(const PlanNode&) = delete;
  PlanNode& operator=(const PlanNode&) = delete;

  /// Extents are those that the types state for the current bindings; what else a
  /// kernel relies on is checked here.
  virtual Result<void> run(Frame& frame) const = 0;
  /// "Linear + bias".
  virtual std::string name() const = 0;
  /// For the current extents. A node that does nothing but move counts operands and results.
  virtual Work work(const Frame& frame) const;
  /// True if the node may write its only result over this operand, which no later node reads. Both
  /// must have the same element type, extents and strides, and other operands must be elsewhere.
  virtual bool may_overwrite(std::size_t /*operand*/) const { return false; }
  /// True if the node looks up the parameters of its step when it runs. Other nodes keep what they
  /// need.
  virtual bool looks_up_parameters() const { return false; }
  /// True if the node runs other plans, whose nodes are timed.
  virtual bool runs_plans() const { return false; }
  /// True if results may have any strides with neighbours in the last dimension.
  virtual bool writes_strided() const { return false; }

  std::size_t step() const { return step_; }
  const std::vector<PlanValueIndex>& operands() const { return operands_; }
  const std::vector<PlanValueIndex>& results() const { return results_; }

 protected:
  /// Returns the work of an op that has the operands and results of the node.
  Work work_of_op(const Op& op, const Frame& frame) const;

 private:
  std::size_t step_;
  std::vector<PlanValueIndex> operands_;
  std::vector<PlanValueIndex> results_;
};

/// The error of operands whose shapes do not match.
Error shape_error(const char* message);

inline Result<void> require(bool holds, const char* message) {
  if (holds) return {};
  return shape_error(message);
}

}  // namespace mir

// Parts of a schedule that have plans of their own: regions of control flow ops, and blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "plan/execution_plan.hpp"
#include "plan/frame.hpp"
#include "plan/plan_node.hpp"
#include "plan/run_symbols.hpp"

namespace mir {

using Tensors = std::vector<Tensor>;

/// A region or a block with its plan. Its inputs are the arguments, then the captured values.
class PlannedRegion {
 public:
  /// The schedule must outlive it, as must `resources.weights`.
  PlannedRegion(const Schedule& schedule, const PlanOptions& options,
                const PlanResources& resources);

  /// Runs the region and returns the operands of its end. `outputs` are tensors that are no longer
  /// needed: the results are written there if they have no other owner.
  Result<Tensors> run(const Frame& frame, const Tensors& inputs, Tensors outputs) {
    return run(frame, frame.binder, inputs, std::move(outputs));
  }
  /// Like run() above, with the values that symbols have around the region in another binder.
  Result<Tensors> run(const Frame& frame, const Binder& around, const Tensors& inputs,
                      Tensors outputs);
  /// The values that symbols had in the last run.
  const Binder& binder() const { return binder_; }

 private:
  std::optional<PlanFailure> bind(const Frame& frame, const Binder& around, const Tensors& inputs);
  Result<void> check(const Tensors& inputs);
  Error in_region(const PlanRun& run, PlanFailure failure) const;

  const Schedule& schedule_;
  RunSymbols symbols_;
  Binder binder_;  // of the current run; kept for its memory
  Tensors constants_;
  std::optional<Error> refusal_;  // why the region has no plan
  std::optional<ExecutionPlan> plan_;
};

/// One for each part of a step.
std::vector<std::unique_ptr<PlannedRegion>> plan_parts(const ControlStep& control,
                                                       const PlanOptions& options,
                                                       const PlanResources& resources);

/// Returns the operands of a node as tensors.
Result<Tensors> operands_of(const PlanNode& node, const Frame& frame);

/// Counts an iteration of a loop. An error if the run must end.
Result<void> begin_iteration(const Op& op, const PlanRun& run);

/// The one element of a condition, bound or index.
Result<std::int64_t> one_element(const Op& op, const Tensor& tensor);

}  // namespace mir

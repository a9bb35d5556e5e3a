// One run of a plan, as a whole or step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "plan/execution_plan.hpp"
#include "plan/frame.hpp"
#include "plan/plan_node.hpp"

namespace mir {

/// Runs a plan once. Tensors and parameters are released after the step that reads them last,
/// before the next one begins, at the latest with the execution. A plan has at most one execution
/// at a time.
class PlanExecution {
 public:
  /// The plan was bound to the symbols' values; it and `run` outlive the execution.
  PlanExecution(ExecutionPlan& plan, const PlanRun& run);
  PlanExecution(const PlanExecution&) = delete;
  PlanExecution& operator=(const PlanExecution&) = delete;
  ~PlanExecution();

  /// The whole run: one tensor for each output.
  std::variant<std::vector<Tensor>, PlanFailure> execute();

  // The parts of execute(), for a caller that goes from step to step.

  /// Parameters that are outputs are there from now on.
  std::optional<PlanFailure> begin();
  /// Computes the steps before number `end` that were not computed yet.
  std::optional<PlanFailure> compute(std::size_t end);
  /// Releases what the steps computed so far were the last to read.
  void release();
  std::variant<std::vector<Tensor>, PlanFailure> finish();

  /// A result of the step that was computed last. Plans with fusion do not have all of them.
  Result<Tensor> result(std::size_t step, std::uint32_t number) const;
  /// The steps that follow take this tensor instead. A cache that the step wrote holds it.
  Result<void> replace_result(std::size_t step, std::uint32_t number, const Tensor& tensor);

 private:
  std::optional<PlanFailure> compute_step(std::size_t step);
  Result<void> run_node(std::size_t number);
  Result<void> begin_phase(std::size_t step);
  Result<void> run_timed(std::size_t number);
  Result<void> acquire(const PlanNode& node);
  void release_parameters();
  Result<void> show(std::size_t step);

  ExecutionPlan::State& state_;
  const PlanRun& run_;
  Frame frame_;
  std::size_t next_node_ = 0;
  std::size_t computed_ = 0;             // steps
  std::size_t released_ = 0;             // steps
  std::optional<std::size_t> acquired_;  // the step whose parameters are there
  bool has_outputs_ = false;             // parameters that are outputs are there
};

}  // namespace mir

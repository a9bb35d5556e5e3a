// State of an execution plan.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/execution_plan.hpp"
#include "plan/parameter_uses.hpp"
#include "plan/plan_parts.hpp"
#include "plan/plan_storage.hpp"

namespace mir {

struct ExecutionPlan::State {
  const Schedule& schedule;
  KernelSet kernels = KernelSet::kFast;
  PlanParts parts;
  FoldedNodes folded;
  PlanStorage storage;
  ParameterUses uses;
  std::vector<std::string> names;  ///< of the nodes
  std::vector<Tensor> fixed;       ///< constants and planned parameters, by index
  // Memory of the current run, kept for the next one:
  std::vector<Tensor> made;          ///< values of home kTensor, by index; empty: there are none
  std::vector<const Tensor*> whole;  ///< see Frame
  std::vector<Tensor> handed_out;    ///< by the run before: planned outputs

  void find_whole_tensors();
  void set_inputs(std::span<const Tensor> inputs);
  Result<std::vector<Tensor>> outputs(fast::Context& context);

 private:
  Result<void> set_output(std::size_t number, fast::Context& context);
};

}  // namespace mir

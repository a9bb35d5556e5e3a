// Nodes whose operands are known when a plan is made.
#pragma once

#include <vector>

#include "plan/execution_plan.hpp"
#include "plan/plan_parts.hpp"

namespace mir {

/// Runs the nodes that read only constants, parameters and each other's results and whose results
/// have constant extents, and removes them from `parts`. The kernels are those of a run, so the
/// bits are equal. Results that other nodes read become constants (`fixed`, by index), up to
/// PlanOptions::folded_bytes. Nodes that fail stay, so that runs report them. Needs a context.
FoldedNodes fold_constants(PlanParts& parts, std::vector<Tensor>& fixed, const Schedule& schedule,
                           const PlanOptions& options, const PlanResources& resources);

}  // namespace mir

// Nodes whose operands are known when a plan is made.
#pragma once

#include <vector>

#include "plan/execution_plan.hpp"
#include "plan/plan_parts.hpp"

namespace mir {

/// Runs the nodes that read nothing but constants, parameters and each other's results and whose
/// results have constant extents, once and for all, and takes them out of `parts`: by the same
/// kernels, so the bits are those of a run. What the others read of their results becomes constant
/// (`fixed`, by index), up to PlanOptions::folded_bytes. Nodes that fail stay, so runs report
/// them. Needs a context.
FoldedNodes fold_constants(PlanParts& parts, std::vector<Tensor>& fixed, const Schedule& schedule,
                           const PlanOptions& options, const PlanResources& resources);

}  // namespace mir

// Launches of kernels as the ops they were lowered from.
#pragma once

#include <span>

#include "mir/ir/module.hpp"
#include "mir/passes/loss_report.hpp"
#include "mir/support/diagnostic.hpp"

namespace mir {

/// An unlinked linalg op that computes what the launch does: its type, its name, its options as
/// attributes, its results with their names and notes. Mentions that say another type than their
/// value keep saying it.
Op* make_kernel(Module& module, const Op& launch, std::span<Value* const> operands);

/// Replaces the instructions inside subgraphs, of modules in which only the ops are lowered.
bool lift_launches(Module& module, LossReport& report, Diagnostics& diagnostics);

}  // namespace mir

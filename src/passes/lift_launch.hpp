// Launches of kernels as the ops they were lowered from.
#pragma once

#include "mir/ir/module.hpp"
#include "mir/passes/loss_report.hpp"
#include "mir/support/diagnostic.hpp"

namespace mir {

/// Replaces the instructions inside subgraphs, of modules in which only the ops are lowered.
bool lift_launches(Module& module, LossReport& report, Diagnostics& diagnostics);

}  // namespace mir

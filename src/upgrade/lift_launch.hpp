// Launches of kernels as the ops they were lowered from.
#pragma once

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/upgrade.hpp"

namespace mir {

/// Replaces the instructions inside subgraphs, of modules in which only the ops are lowered.
bool lift_launches(Module& module, LossReport& report, Diagnostics& diagnostics);

}  // namespace mir

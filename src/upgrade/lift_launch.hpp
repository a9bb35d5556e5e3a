// Launches of kernels as the ops they were lowered from.
#pragma once

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/upgrade.hpp"

namespace mir {

/// The unlinked op of `module` that a launch in it runs, with these operands: its options as
/// attributes, its results as printed.
Op* make_kernel(Module& module, const Op& launch, std::span<Value* const> operands);

/// The unlinked op that gives what `prog.alloc` allocates.
Op* make_storage(Module& module, const Op& allocation);

/// Replaces the instructions inside subgraphs, of modules in which only the ops are lowered.
bool lift_launches(Module& module, LossReport& report, Diagnostics& diagnostics);

}  // namespace mir

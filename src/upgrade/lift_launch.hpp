// Instructions as the ops they were lowered from.
#pragma once

#include "mir/conversion.hpp"
#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/upgrade.hpp"

namespace mir {

/// How many instructions were replaced.
struct LiftedInstructions {
  std::size_t launches = 0;
  std::size_t frees = 0;
};

/// Replaces the instructions inside graphs: each launch by the op whose kernel it runs, its options
/// as attributes, its results as printed; each allocation by `tensor.AllocOp`; a return by one of
/// the last values with the names of the results of its graph. What is freed ends by itself. No
/// value after reporting instructions that graphs do not have.
std::optional<LiftedInstructions> lift_instructions(Module& module, LossReport& report,
                                                    Diagnostics& diagnostics,
                                                    const ExplainConversion& explain);

}  // namespace mir

// The command `plan` of mllm-weights.
#pragma once

#include "settings.hpp"
#include "tool.hpp"

namespace mir::tools {

/// Measures types of weights by running a module, chooses some for a budget, and prints a table.
ExitCode plan_command(const Run& run, const WeightsSettings& settings);

}  // namespace mir::tools

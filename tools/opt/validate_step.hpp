// Two texts as before and after of a step.
#pragma once

#include "tool.hpp"
#include "tools/opt/settings.hpp"

namespace mir::tools {

/// Runs the modules of two files on random inputs, and reports a difference that --claim does not
/// admit.
ExitCode validate_step(const Run& run, const OptSettings& settings);

}  // namespace mir::tools

// Tries the schedules that a text describes, and writes the one that moves least memory.
#pragma once

#include "tool.hpp"
#include "tools/opt/settings.hpp"

namespace mir::tools {

/// Writes the best schedule of --search for the module of a file, with what each schedule costs.
ExitCode search_schedule(const Run& run, const OptSettings& settings);

}  // namespace mir::tools

// Inputs of several runs, as options name them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir::tools {

/// Arguments `[PORT=]SPEC` of each run. A port that is named several times has one value for each
/// run; all others have the same value in every run. Refuses ports with different numbers of
/// values. One run without arguments.
Result<std::vector<std::vector<std::string>>> input_sets(std::span<const std::string> arguments);

}  // namespace mir::tools

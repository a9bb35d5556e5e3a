// Files of patterns whose claims are tried.
#pragma once

#include "tool.hpp"
#include "tools/opt/settings.hpp"

namespace mir::tools {

/// Tries the patterns of the files of --validate-patterns, prints the verdicts and reports patterns
/// that do not keep their claims or could not be tried.
ExitCode validate_files(const Run& run, const OptSettings& settings);

}  // namespace mir::tools

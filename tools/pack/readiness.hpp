// Check that the files a run names can be read.
#pragma once

#include "tools/interp/invocation.hpp"
#include "verification.hpp"

namespace mir::tools {

/// Reads and verifies the module of a command line or pack, checks the names that its options
/// state, and reads every tensor file that they name, each as a run would; runs nothing. Weights
/// and inputs may be missing, because a command line can add them. Reports what is wrong.
ExitCode check_readiness(const Run& run, const Invocation& invocation,
                         const VerificationSettings& checks);

}  // namespace mir::tools

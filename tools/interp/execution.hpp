// The runs that a command line of mllm-interp asks for.
#pragma once

#include "invocation.hpp"
#include "loading.hpp"
#include "mir/session.hpp"
#include "settings.hpp"

namespace mir::tools {

/// Loads weights and inputs, executes the first run and those of --then, shows, writes and checks
/// outputs. Everything is understood before the first run starts.
ExitCode execute(const Run& run, const LoadedModule& loaded, const Invocation& invocation,
                 const InterpSettings& settings, const RunOptions& options,
                 Diagnostics& diagnostics);

}  // namespace mir::tools

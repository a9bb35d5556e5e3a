// Lowered programs, run as they are: `mllm-interp --machine`.
#pragma once

#include "invocation.hpp"
#include "mir/module.hpp"
#include "mir/session.hpp"
#include "settings.hpp"

namespace mir::tools {

/// Loads the program, its inputs and weights, runs it, once more for each run of --then, and shows,
/// writes and checks the outputs of the last run. With --trace=pc each instruction is shown before
/// it runs.
ExitCode run_program(const Run& run, const Module& module, const Invocation& invocation,
                     const InterpSettings& settings, Diagnostics& diagnostics);

}  // namespace mir::tools

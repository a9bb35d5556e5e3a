// Results of a module before and after its passes.
#pragma once

#include "mir/pass.hpp"
#include "tool.hpp"
#include "tools/opt/settings.hpp"

namespace mir::tools {

/// Runs a pipeline on a module and, for --validate, the module before and after it on random
/// inputs. Reports a difference with the first rewrite that makes it. False after reporting.
bool run_validated(Module& module, const Pipeline& pipeline, PipelineRun how,
                   const OptSettings& settings, Diagnostics& diagnostics);

}  // namespace mir::tools

// Reading of the pipeline of mllm-opt, with the options that depend on it.
#pragma once

#include <optional>

#include "mir/pass.hpp"
#include "settings.hpp"
#include "tool.hpp"

namespace mir::tools {

/// Reads the pipeline, takes the facts that options grant to it, and refuses options without effect
/// on it. No value after setting `code`.
std::optional<Pipeline> read_pipeline(const Run& run, OptSettings& settings, ExitCode& code);

}  // namespace mir::tools

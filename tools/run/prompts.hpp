// Prompts from a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir::tools {

/// Reads a prompt from each line of a file, standard input for "-". In a file whose name ends in
/// .jsonl a line is JSON: a string, or an object with a string 'prompt'. Empty lines are left out.
/// Returns no value after reporting.
std::optional<std::vector<std::string>> read_prompts(const std::string& path,
                                                     SourceManager& sources,
                                                     Diagnostics& diagnostics);

}  // namespace mir::tools

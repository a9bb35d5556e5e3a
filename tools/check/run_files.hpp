// Runs test files on several threads.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "run_cases.hpp"

namespace mir::tools {

/// Runs the files, up to `jobs` at a time, and delivers their results in the order of the files.
/// False when an interrupt stopped it.
bool run_case_files(std::span<const std::string> paths, const CheckSettings& settings,
                    unsigned jobs, const std::function<void(const FileResult&)>& take);

}  // namespace mir::tools

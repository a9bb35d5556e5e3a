// Exit codes of every tool.
#pragma once

#include <algorithm>
#include <string_view>

#include "mir/diagnostic.hpp"

namespace mir::tools {

enum class ExitCode : int {
  kSuccess = 0,
  kFindings = 1,  ///< an error in the input, a difference, a failed expectation, a refusal to run
  kUsage = 2,     ///< the command line is not understood
  kFileTrouble = 3,  ///< a file cannot be read or written
  kLimit = 4,        ///< a resource limit was hit
  kInternal = 70,    ///< a defect of the tool itself
};

struct ExitStatus {
  int code;
  std::string_view meaning;
};
inline constexpr ExitStatus kExitStatuses[] = {
    {0, "success"},
    {1, "findings: an error in the input, a difference, a failed expectation, a refusal to run"},
    {2, "the command line is not understood"},
    {3, "a file cannot be read or written"},
    {4, "a resource limit was hit"},
    {70, "a defect of the tool itself"},
};

/// With several files the worst wins.
inline ExitCode worst(ExitCode a, ExitCode b) {
  return std::max(a, b);
}

/// Returns the exit code of a tool that ends with an error of this code.
ExitCode exit_code_of(DiagCode code);
/// Returns the exit code of the worst error; kSuccess if there is none.
ExitCode exit_code_of(const Diagnostics& diagnostics);

}  // namespace mir::tools

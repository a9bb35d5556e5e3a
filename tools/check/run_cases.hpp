// Runs the cases of a file and holds them to what they expect.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "case_files.hpp"

namespace mir::tools {

struct CheckSettings {
  CheckPrefixes prefixes = {"CHECK"};
  std::string tools;  ///< the folder that comes first in PATH
  std::chrono::seconds time_limit{60};
  bool update = false;  ///< rewrite stored output instead of comparing it
  int interrupt = -1;   ///< see CommandSetting
};

enum class CaseVerdict { kPassed, kFailed, kUpdated };

struct CaseResult {
  std::string name;
  CaseVerdict verdict = CaseVerdict::kPassed;
  Diagnostics problems{0};
  std::string difference;  ///< unified diffs with stored output
};

struct FileResult {
  std::string path;
  std::unique_ptr<SourceManager> sources;  ///< of what the problems refer to
  std::vector<CaseResult> cases;
  bool interrupted = false;
  CheckPrefixes unused_prefixes;  ///< prefixes of the settings that begin no check of the file
};

/// Runs each case in an empty scratch folder of its own. Shares nothing with other calls but the
/// file system.
FileResult run_case_file(const std::string& path, const CheckSettings& settings);

/// Holds a text to checks, within the time limit of a command.
void check_output(std::span<const Check> checks, const SourceFile& output,
                  const CheckSettings& settings, Diagnostics& problems);

}  // namespace mir::tools

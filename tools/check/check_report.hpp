// Report of a run of test files, for people, or as TAP or JUnit for programs.
#pragma once

#include <cstddef>
#include <string>

#include "run_cases.hpp"
#include "settings.hpp"
#include "tool.hpp"

namespace mir::tools {

/// Shows results as they arrive. For people: the errors of the failed cases, and a last line with
/// counts. As TAP: a line for each case, followed by its errors. As JUnit: at the end, since the
/// counts come first.
class CheckReport {
 public:
  CheckReport(const Run& run, const Run::Sink& write, ResultForm form);

  void add(const FileResult& file);
  void finish();
  /// The worst of all cases.
  ExitCode code() const { return code_; }

 private:
  void add_for_people(const FileResult& file, const CaseResult& result,
                      const Diagnostics& problems);
  void add_as_tap(const FileResult& file, const CaseResult& result, const Diagnostics& problems);
  void add_as_junit(const FileResult& file, const CaseResult& result, const Diagnostics& problems);
  std::size_t count() const { return passed_ + failed_ + updated_; }

  const Run& run_;
  Run::Sink write_;
  ResultForm form_;
  std::string junit_cases_;
  std::size_t passed_ = 0;
  std::size_t failed_ = 0;
  std::size_t updated_ = 0;
  ExitCode code_ = ExitCode::kSuccess;
};

}  // namespace mir::tools

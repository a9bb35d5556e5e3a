// mllm-check: tests that are texts. Runs the commands in them and compares what they write.
#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/checks.hpp"
#include "mir/codes/usage.hpp"
#include "mir/parse.hpp"
#include "progress.hpp"
#include "support/platform/interrupts.hpp"
#include "support/platform/threads.hpp"
#include "tool.hpp"
#include "tools/check/check_report.hpp"
#include "tools/check/run_files.hpp"
#include "tools/check/settings.hpp"
#include "tools/tools.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kCheckTool = {
    .name = "mllm-check",
    .summary =
        "Runs the commands in test files and compares their output with the expected output.",
    .operands = "case...",
    .examples = {{{"mllm-check tests/", "run all cases below a folder"},
                  {"echo '// RUN: mllm-fmt model.mir' > a.test; mllm-check --update a.test",
                   "write a case, and store what its command prints"},
                  {"mllm-opt -p upgrade dump.mir | mllm-check --input=- dump.mir",
                   "check a text by the lines of a file such as // CHECK: SiLUOp"}}},
    .files = "mir test",
    .files_behind =
        [](const std::string& path) {
          auto files = find_case_files(path);
          return files ? *std::move(files) : std::vector<std::string>();
        },
};

/// Holds the text of --input to the checks of one file.
ExitCode filter(const Run& run, const std::string& path, const CheckSettings& settings) {
  if (run.operands().size() != 1) return run.usage_error("--input takes the checks of one file");
  SourceManager sources;
  Diagnostics problems = run.diagnostics();
  const auto file = read_source(run.operands().front(), sources);
  if (!file) return run.report(file.error());
  const auto input = read_source(path, sources);
  if (!input) return run.report(input.error());
  const auto checks = read_checks(**file, settings.prefixes, problems);
  for (const std::string& prefix : unused_prefixes(settings.prefixes, checks)) {
    if (problems.has_errors()) break;
    problems.error(diag::kCheckMalformed, {(*file)->base(), (*file)->base()},
                   fmt::format("no line '// {}: text' says what is expected", prefix));
  }
  if (!problems.has_errors()) check_output(checks, **input, settings, problems);
  return run.report(problems, sources);
}

Result<std::vector<std::string>> case_files(const Run& run) {
  std::vector<std::string> files;
  for (const std::string& operand : run.operands()) {
    auto found = find_case_files(operand);
    if (!found) return std::move(found).error();
    files.insert(files.end(), found->begin(), found->end());
  }
  if (!files.empty()) return files;
  return Error{diag::kUsage, "there are no cases: files that end in .mir or .test"};
}

ExitCode run_tests(const Run& run, const CheckOptions& options, CheckSettings settings) {
  const auto files = case_files(run);
  if (!files) return run.refuse(files.error());
  const InterruptWatch watch;
  settings.interrupt = watch.descriptor();
  const unsigned processors = processor_count();
  ExitCode code = ExitCode::kSuccess;
  CheckPrefixes unused = settings.prefixes;
  const bool selects = options.check_prefix.is_given();
  const ExitCode written = run.write_output([&](const Run::Sink& write) {
    CheckReport report(run, write, *options.format);
    const Progress progress = count_progress();
    std::size_t done = 0;
    const auto take = [&](const FileResult& file) {
      if (progress) progress(files->size(), files->size());  // takes its line away
      report.add(file);
      std::erase_if(unused, [&](const std::string& prefix) {
        return std::ranges::find(file.unused_prefixes, prefix) == file.unused_prefixes.end();
      });
      if (progress) progress(++done, files->size());
    };
    const unsigned jobs = options.threads.if_given().value_or(processors);
    if (run_case_files(*files, settings, jobs, take)) report.finish();
    code = report.code();
  });
  if (selects && !unused.empty()) {
    code = worst(code, run.report(Error{diag::kCheckMalformed,
                                        fmt::format("--check-prefix: no case has a line '// {}: "
                                                    "text'",
                                                    unused.front())}));
  }
  return worst(code, written);
}

ExitCode run_check(const Run& run, const CheckOptions& options) {
  const auto settings = settings_of(options);
  if (!settings) return run.refuse(settings.error());
  if (run.operands().empty()) return run.usage_error("expected a file or a folder of cases");
  if (options.input.is_given()) return filter(run, *options.input, *settings);
  return run_tests(run, options, *settings);
}

}  // namespace

const Tool mir::tools::kMllmCheck = tool_of<kCheckTool, run_check>();

// Runs the commands of each case, and compares statuses, stored outputs and check lines.
#include "run_cases.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "command.hpp"
#include "match_checks.hpp"
#include "mir/codes/checks.hpp"
#include "regular_file.hpp"
#include "stored_output.hpp"
#include "support/file_io.hpp"
#include "support/platform/scratch_folder.hpp"

namespace mir::tools {

namespace {

namespace fs = std::filesystem;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Replacements of the placeholders in a case.
struct Placeholders {
  std::string file;     ///< %s
  std::string folder;   ///< %S
  std::string scratch;  ///< %T

  std::string in_command(std::string_view command) const {
    return fill_placeholders(command, {{'s', file}, {'S', folder}, {'T', scratch}});
  }
  std::string in_output(std::string text) const {
    return replaced(replaced(std::move(text), folder, "%S"), scratch, "%T");
  }
};

struct Output {
  std::string out;
  std::string err;
};

/// One case with the file it belongs to.
class CaseRun {
 public:
  CaseRun(const TestCase& test, const CheckSettings& settings, FileResult& file)
      : test_(test), settings_(settings), file_(file) {
    result_.name = test.name;
    result_.problems = test.problems;
  }

  /// Runs the commands and checks the output that no file stores; no value after reporting.
  std::optional<Output> run();
  CaseResult& result() { return result_; }
  void fail(const Error& error) { result_.problems.error(error.code, {}, error.message); }

 private:
  bool execute(const TestCommand& command, const Placeholders& placeholders, Output& output);
  bool judge(const TestCommand& command, const CommandResult& result);

  const TestCase& test_;
  const CheckSettings& settings_;
  FileResult& file_;
  CaseResult result_;
};

/// The cases that run around this process, each by a fingerprint of its text, with blanks between.
constexpr const char* kRunningCases = "MLLM_CHECK_CASES";

std::string running_cases() {
  const char* cases = std::getenv(kRunningCases);
  return cases == nullptr ? "" : cases;
}

std::string fingerprint_of(const TestCase& test) {
  return fmt::format("{:016x}", std::hash<std::string_view>()(test.text->text()));
}

/// Returns the begin of a case. The begin of a part is not that of its inherited commands.
Span begin_of(const TestCase& test) {
  return {test.text->base(), test.text->base()};
}

bool is_inherited(const TestCommand& command, const TestCase& test) {
  return command.at.begin < test.text->base();  // texts of later parts come later
}

/// Describes the unexpected end of a command; empty if it ended as expected.
std::string problem_with(const TestCommand& command, const CommandResult& result,
                         std::chrono::seconds limit) {
  if (result.end == CommandEnd::kTimeLimit) {
    return fmt::format("the command ran longer than {} s", limit.count());
  }
  if (result.end == CommandEnd::kOutputLimit) return "the command wrote more than 64 MiB";
  if (result.status == command.exit_status) return "";
  return fmt::format("the command ended with {}, expected {}", result.status, command.exit_status);
}

bool CaseRun::judge(const TestCommand& command, const CommandResult& result) {
  if (result.end == CommandEnd::kInterrupted) {
    file_.interrupted = true;
    return false;
  }
  const std::string problem = problem_with(command, result, settings_.time_limit);
  if (problem.empty()) return true;
  const bool exited = result.end == CommandEnd::kExited;
  const DiagCode code = exited ? diag::kExitStatus : diag::kCommandLimit;
  Diagnostic& added = result_.problems.error(code, command.at, problem);
  if (is_inherited(command, test_)) added.note(begin_of(test_), "it was run for this part");
  return exited;
}

/// False when what follows would show nothing.
bool CaseRun::execute(const TestCommand& command, const Placeholders& placeholders,
                      Output& output) {
  const char* path = std::getenv("PATH");
  const std::string rest = path == nullptr ? "" : fmt::format(":{}", path);
  const CommandSetting setting{.folder = placeholders.scratch,
                               .environment = {fmt::format("PATH={}{}", settings_.tools, rest),
                                               "LC_ALL=C.UTF-8", "TERM=dumb",
                                               fmt::format("{}={} {}", kRunningCases,
                                                           running_cases(), fingerprint_of(test_))},
                               .time_limit = settings_.time_limit,
                               .interrupt = settings_.interrupt};
  auto result = run_command(placeholders.in_command(command.text), setting);
  if (!result) {
    fail(result.error());
    return false;
  }
  output.out += placeholders.in_output(std::move(result->out));
  output.err += placeholders.in_output(std::move(result->err));
  return judge(command, *result);
}

std::optional<Output> CaseRun::run() {
  if (result_.problems.has_errors()) return std::nullopt;
  if (running_cases().find(fingerprint_of(test_)) != std::string::npos) {
    Diagnostic& error = result_.problems.error(diag::kCheckMalformed, test_.commands.front().at,
                                               "the case runs mllm-check on itself");
    error.hint = "mllm-check compares the output of RUN lines itself: end the pipe before it";
    return std::nullopt;
  }
  const auto scratch = ScratchFolder::create("mllm-check");
  std::error_code error;
  const fs::path path = fs::canonical(file_.path, error);
  Placeholders placeholders{path.filename().string(), path.parent_path().string(), ""};
  if (scratch) placeholders.scratch = scratch->path();
  const auto copied =
      scratch ? write_file_atomically(scratch->path() + "/" + placeholders.file, test_.text->text())
              : Result<void>(scratch.error());
  if (!copied) {
    fail(copied.error());
    return std::nullopt;
  }
  Output output;
  for (const TestCommand& command : test_.commands) {
    if (!execute(command, placeholders, output)) return std::nullopt;
  }
  if (!test_.checks.empty()) {
    const SourceFile* text = file_.sources->add("<output>", std::exchange(output.out, ""));
    if (text != nullptr) {
      check_output(test_.checks, *text, settings_, result_.problems);
    } else {
      fail(SourceManager::full("<output>"));
    }
  }
  return output;
}

/// The stored output of a file's cases.
struct StoredStreams {
  StoredOutput out;
  StoredOutput err;
};

Result<StoredStreams> read_streams(const std::string& path, std::size_t cases) {
  auto out = StoredOutput::read(path, ".out", cases);
  if (!out) return std::move(out).error();
  auto err = StoredOutput::read(path, ".err", cases);
  if (!err) return std::move(err).error();
  return StoredStreams{*std::move(out), *std::move(err)};
}

/// Compares one stream of a case with the stored output. An update replaces the stored output,
/// unless the case fails: then the difference shows why.
void settle(StoredOutput& stored, std::size_t index, const std::string& text, const TestCase& test,
            bool update, SourceManager& sources, CaseResult& result) {
  if (stored.has(index, text)) return;
  if (update && !result.problems.has_errors()) {
    stored.replace(index, text);
    result.verdict = CaseVerdict::kUpdated;
    return;
  }
  const TestCommand& command = test.commands.front();
  const Span at = is_inherited(command, test) ? begin_of(test) : command.at;
  result.difference += stored.report(index, text, at, sources, result.problems);
}

void add_failure(FileResult& file, const Error& error) {
  CaseResult failed;
  failed.name = file.path;
  failed.verdict = CaseVerdict::kFailed;
  failed.problems.error(error.code, {}, error.message);
  file.cases.push_back(std::move(failed));
}

void run_all(std::span<const TestCase> tests, StoredStreams& stored, const CheckSettings& settings,
             FileResult& file) {
  for (std::size_t i = 0; i < tests.size() && !file.interrupted; ++i) {
    CaseRun run(tests[i], settings, file);
    const auto output = run.run();
    CaseResult& result = run.result();
    if (output) {
      settle(stored.out, i, output->out, tests[i], settings.update, *file.sources, result);
      settle(stored.err, i, output->err, tests[i], settings.update, *file.sources, result);
    }
    if (result.problems.has_errors()) result.verdict = CaseVerdict::kFailed;
    file.cases.push_back(std::move(result));
  }
}

}  // namespace

FileResult run_case_file(const std::string& path, const CheckSettings& settings) {
  FileResult file{path, std::make_unique<SourceManager>(), {}, false, settings.prefixes};
  auto text = read_regular_file(path, kMaxCaseSize);
  if (!text) {
    add_failure(file, text.error());
    return file;
  }
  const SourceFile& source = *file.sources->add(path, *std::move(text));
  if (const auto other = case_of_same_output(path)) {
    add_failure(file, {diag::kCheckMalformed,
                       fmt::format("'{}' and '{}' have the same stored output; rename one of them",
                                   path, *other)});
    return file;
  }
  const auto tests = read_cases(source, settings.prefixes, *file.sources);
  for (const TestCase& each : tests)
    file.unused_prefixes = unused_prefixes(file.unused_prefixes, each.checks);
  auto stored = read_streams(path, tests.size());
  if (!stored) {
    add_failure(file, stored.error());
    return file;
  }
  run_all(tests, *stored, settings, file);
  if (!settings.update || file.interrupted) return file;
  for (const StoredOutput* each : {&stored->out, &stored->err}) {
    if (auto written = each->write(); !written) add_failure(file, written.error());
  }
  return file;
}

void check_output(std::span<const Check> checks, const SourceFile& output,
                  const CheckSettings& settings, Diagnostics& problems) {
  const auto deadline = std::chrono::steady_clock::now() + settings.time_limit;
  match_checks(checks, OutputText(output, settings.prefixes, deadline), problems);
}

}  // namespace mir::tools

// mllm-reduce: makes modules smaller while they stay interesting.
#include <fmt/format.h>

#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "mir/codes/passes.hpp"
#include "mir/codes/usage.hpp"
#include "mir/parse.hpp"
#include "mir/print.hpp"
#include "reduce/bisect.hpp"
#include "reduce/reduce.hpp"
#include "standard_error.hpp"
#include "support/file_io.hpp"
#include "support/platform/interrupts.hpp"
#include "tool.hpp"
#include "tools/reduce/question.hpp"
#include "tools/tools.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kReduceTool = {
    .name = "mllm-reduce",
    .summary =
        "Makes a file smaller while a test of it holds, or finds the pass that breaks a module.",
    .operands = "file",
    .examples =
        {{{"mllm-reduce big.mir -o small.mir --test='mllm-opt -p simplify %s | grep -q MulOp'",
           "find a small file for which a command succeeds"},
          {"mllm-reduce big.mir -o small.mir --reports=MIR0500",
           "find a small file that still has this error"},
          {"mllm-reduce model.mir --bisect --differs -p simplify,cse",
           "find the pass, and its rewrite, that changes the results of a module"}}},
    .files = "mir",
};

Error not_interesting(const std::string& path, const std::string& found) {
  return {diag::kNotInteresting, fmt::format("'{}' is not interesting: {}", path, found)};
}

/// "drop ops: ops 3900 -> 1950, 12 tests": the first size that the step changed.
std::string line_of(const reduce::Success& success) {
  const auto [before, after, tests] = std::tie(success.before, success.after, success.tests);
  const std::string change =
      before.ops != after.ops       ? fmt::format("ops {} -> {}", before.ops, after.ops)
      : before.lines != after.lines ? fmt::format("lines {} -> {}", before.lines, after.lines)
                                    : fmt::format("bytes {} -> {}", before.bytes, after.bytes);
  return fmt::format("{}: {}, {} test{}\n", success.step, change, tests, tests == 1 ? "" : "s");
}

ExitCode reduce_file(const Run& run, const SourceFile& file, const Question& question) {
  const auto interest = question.interest();
  const std::string text(file.text());
  const auto original = interest(text);
  if (!original) return run.report(original.error());
  if (!original->is_interesting) {
    return run.report(not_interesting(file.name(), original->found));
  }
  const bool writes_each = run.output().is_given() && run.output().given().front() != "-";
  reduce::ReduceOptions options{.interest = interest, .keep = [&](const std::string& smaller) {
                                  if (!writes_each) return Result<void>();
                                  return write_file_atomically(run.output().given().front(),
                                                               smaller);
                                }};
  options.jobs = *question.settings().threads;
  options.report = [](const reduce::Success& success) { write_error_text(line_of(success)); };
  const auto report = reduce::reduce(text, question.surroundings(), options);
  if (!report) {
    return run.report(
        Error{report.error().code, fmt::format("'{}': {}", file.name(), report.error().message)});
  }
  write_error_text(fmt::format("'{}' reduced from {} lines and {} ops to {} and {} in {} tests\n",
                               file.name(), report->before.lines, report->before.ops,
                               report->after.lines, report->after.ops, report->tests));
  ExitCode code = report->stopped ? run.report(*report->stopped) : ExitCode::kSuccess;
  return writes_each ? code : worst(code, run.write_output(report->text));
}

/// The text of all modules, with another one in place of one of them.
std::string text_with(std::span<Module* const> modules, const Module& old, const Module& changed) {
  std::string text;
  for (const Module* each : modules) text += print(each == &old ? changed : *each);
  return text;
}

ExitCode bisect_file(const Run& run, const SourceFile& file, const Question& question) {
  Diagnostics found = run.diagnostics();
  const auto draft =
      reduce::Draft::read(std::string(file.text()), question.surroundings(), found, file.name());
  if (draft == nullptr) {
    return run.report(Error{diag::kUsage, fmt::format("--bisect: cannot read '{}'", file.name())});
  }
  const std::vector<Module*>& modules = draft->modules();
  std::string lines;
  std::optional<Error> without;  // of the first module without such a pass
  for (const Module* module : modules) {
    const reduce::Judgement judgement = [&](const Module& before,
                                            const Module& after) -> Result<bool> {
      auto answer =
          question.command()
              ? question.command()->judge(text_with(modules, *module, after))
              : Result<reduce::Answer>(reduce::compare(before, after, question.comparison()));
      if (!answer) return std::move(answer).error();
      return answer->is_interesting;
    };
    const std::string name =
        modules.size() == 1 ? ""
                            : fmt::format("module '@{}': ", draft->context().text(module->name()));
    const auto culprit = reduce::bisect(*module, question.pipeline(), judgement);
    if (culprit) {
      lines += name + spelling(*culprit) + '\n';
      continue;
    }
    const Error error{culprit.error().code,
                      fmt::format("'{}': {}{}", file.name(), name, culprit.error().message)};
    if (error.code != diag::kNotInteresting) return run.report(error);
    if (!without) without = error;
  }
  if (lines.empty() && without) return run.report(*without);
  return run.write_output(lines);
}

ExitCode run_reduce(const Run& run, ReduceSettings& settings) {
  if (const auto checked = check(settings); !checked) return run.refuse(checked.error());
  if (run.operands().size() != 1) return run.usage_error("expected one file");
  if (const ExitCode read = settings.patterns.files.report(run); read != ExitCode::kSuccess) {
    return read;
  }
  SourceManager sources;
  Diagnostics problems = run.diagnostics();
  auto pipeline = read_pipelines(settings.passes, settings.patterns.files.passes(),
                                 settings.known.registry, sources, problems);
  if (!pipeline) return run.report(problems, sources);
  const auto file = read_source(run.operands().front(), sources);
  if (!file) return run.report(file.error());

  const InterruptWatch watch;
  IRContext tried;
  if (!register_dialects(settings.dialects, tried, problems)) {
    return run.report(problems, tried.sources());
  }
  Question question(settings, *std::move(pipeline), watch.descriptor());
  if (settings.test.is_given()) {
    const WantedEnd wanted = settings.crash  ? WantedEnd::kSignal
                             : settings.hang ? WantedEnd::kTimeLimit
                                             : WantedEnd::kSuccess;
    auto command = CommandTest::create(*settings.test, wanted,
                                       std::chrono::seconds(*settings.timeout), watch.descriptor());
    if (!command) return run.report(command.error());
    question.set_command(*std::move(command));
  }
  return settings.bisect ? bisect_file(run, **file, question) : reduce_file(run, **file, question);
}

}  // namespace

const Tool mir::tools::kMllmReduce = tool_of<kReduceTool, run_reduce>();

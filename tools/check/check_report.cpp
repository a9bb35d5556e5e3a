// Reports results of test files to people, or to programs as TAP or JUnit.
#include "check_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "line_text.hpp"
#include "mir/codes/checks.hpp"
#include "support/markup.hpp"
#include "support/terminal_text.hpp"

namespace mir::tools {

namespace {

/// Returns the command that accepts the output of a case; empty if that would not make it pass.
std::string advice(const FileResult& file, const CaseResult& result) {
  const auto differs = [](const Diagnostic& each) { return each.code == diag::kOutputDiffers; };
  if (!std::ranges::all_of(result.problems.sorted(), differs)) return "";
  return fmt::format("to accept this output: mllm-check --update {}\n", file.path);
}

std::string as_comment(std::string_view text) {
  std::string comment;
  while (!text.empty()) comment += fmt::format("# {}\n", take_line(text));
  return comment;
}

}  // namespace

CheckReport::CheckReport(const Run& run, const Run::Sink& write, ResultForm form)
    : run_(run),
      // Names and output of cases are what others wrote.
      write_([write](std::string_view text) { write(visible_lines(text)); }),
      form_(form) {
  if (form_ == ResultForm::kTap) write_("TAP version 13\n");
}

void CheckReport::add(const FileResult& file) {
  for (const CaseResult& result : file.cases) {
    passed_ += result.verdict == CaseVerdict::kPassed;
    failed_ += result.verdict == CaseVerdict::kFailed;
    updated_ += result.verdict == CaseVerdict::kUpdated;
    Diagnostics problems = run_.diagnostics();
    problems.append(Diagnostics(result.problems));
    code_ = worst(code_, exit_code_of(problems));
    switch (form_) {
      case ResultForm::kHuman:
        add_for_people(file, result, problems);
        break;
      case ResultForm::kTap:
        add_as_tap(file, result, problems);
        break;
      case ResultForm::kJunit:
        add_as_junit(file, result, problems);
        break;
    }
  }
}

void CheckReport::add_for_people(const FileResult& file, const CaseResult& result,
                                 const Diagnostics& problems) {
  if (result.verdict == CaseVerdict::kUpdated) write_(fmt::format("updated {}\n", result.name));
  if (result.verdict != CaseVerdict::kFailed) return;
  run_.report(problems, *file.sources);
  write_(result.difference + advice(file, result));
}

void CheckReport::add_as_tap(const FileResult& file, const CaseResult& result,
                             const Diagnostics& problems) {
  const bool failed = result.verdict == CaseVerdict::kFailed;
  const bool updated = result.verdict == CaseVerdict::kUpdated;
  std::string text = fmt::format("{} {} - {}{}\n", failed ? "not ok" : "ok", count(), result.name,
                                 updated ? " # SKIP updated" : "");
  if (failed) {
    text += as_comment(render(problems, *file.sources, {}));
    text += as_comment(result.difference + advice(file, result));
  }
  write_(text);
}

void CheckReport::add_as_junit(const FileResult& file, const CaseResult& result,
                               const Diagnostics& problems) {
  junit_cases_ += fmt::format("  <testcase classname=\"{}\" name=\"{}\"", as_markup(file.path),
                              as_markup(result.name));
  switch (result.verdict) {
    case CaseVerdict::kPassed:
      junit_cases_ += "/>\n";
      return;
    case CaseVerdict::kUpdated:
      junit_cases_ += "><skipped message=\"updated\"/></testcase>\n";
      return;
    case CaseVerdict::kFailed: {
      const std::vector<Diagnostic> found = problems.sorted();
      junit_cases_ += fmt::format("><failure message=\"{}\">{}</failure></testcase>\n",
                                  found.empty() ? "" : as_markup(found.front().message),
                                  as_markup(render(problems, *file.sources, {}) +
                                            result.difference + advice(file, result)));
    }
  }
}

void CheckReport::finish() {
  switch (form_) {
    case ResultForm::kHuman: {
      const std::string skipped = updated_ == 0 ? "" : fmt::format(", {} skipped", updated_);
      write_(fmt::format("{} passed, {} failed{}\n", passed_, failed_, skipped));
      break;
    }
    case ResultForm::kTap:
      write_(fmt::format("1..{}\n", count()));
      break;
    case ResultForm::kJunit:
      write_(
          fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<testsuite name=\"mllm-check\" tests=\"{}\" failures=\"{}\" "
                      "skipped=\"{}\">\n{}</testsuite>\n",
                      count(), failed_, updated_, junit_cases_));
      break;
  }
}

}  // namespace mir::tools

#include "options.hpp"

#include <doctest/doctest.h>

#include "exit_code.hpp"

using namespace mir;
using namespace mir::tools;

namespace {

constexpr Option kOptions[] = {
    {.name = "in-place", .letter = 'i', .help = "change the file"},
    {.name = "set", .letter = 's', .argument = "K=V", .help = "a setting", .repeatable = true},
    {.name = "lines", .argument = "A:B", .help = "a range"},
};
constexpr ToolInfo kTool = {
    .name = "mllm-test",
    .summary = "Tests options.",
    .operands = "[file...]",
    .options = kOptions,
    .examples = {{{"mllm-test a", "one"}, {"mllm-test -i b", "two"}}},
};

Result<Arguments> parsed(std::vector<const char*> words) {
  return parse_arguments(kTool, words);
}

std::string error_of(std::vector<const char*> words) {
  const auto result = parsed(std::move(words));
  return result ? "" : result.error().message;
}

}  // namespace

TEST_CASE("options and operands come in any order") {
  const auto arguments =
      parsed({"a", "-i", "-", "--lines=1:2", "-sx=1", "--set", "y=2", "--", "--set"});
  REQUIRE(arguments.ok());
  CHECK(arguments->has("in-place"));
  CHECK(arguments->value("lines") == "1:2");
  CHECK(arguments->values("set").size() == 2);
  CHECK(arguments->value("set") == "y=2");
  CHECK(arguments->operands() == std::vector<std::string>{"a", "-", "--set"});
  CHECK(arguments->value("output", "-") == "-");
  CHECK_FALSE(arguments->has("help"));
}

TEST_CASE("a command line that is not understood says why") {
  CHECK(error_of({"--frob"}) == "unrecognised option '--frob'");
  CHECK(error_of({"--line=1:2"}) == "unrecognised option '--line'; did you mean '--lines'?");
  CHECK(error_of({"--lines"}) == "the required argument for option '--lines' is missing");
  CHECK(error_of({"--lines=1:2", "--lines=3:4"}) == "option '--lines' is given twice");
  CHECK(error_of({"--operand=x"}) != "");
}

TEST_CASE("the help page is made from the table and ends with two examples") {
  const std::string help = help_text(kTool);
  CHECK(
      help.starts_with("Tests options.\n\nUsage: mllm-test [options] [file...]\n\nOptions:\n"
                       "  -i, --in-place          change the file\n"
                       "  -s, --set=K=V           a setting\n"
                       "      --lines=A:B         a range\n"));
  CHECK(help.ends_with("\nExamples:\n  mllm-test a\n      one\n  mllm-test -i b\n      two\n"));
  for (const Option& option : all_options(kTool)) {
    CHECK(help.find("--" + std::string(option.name)) != help.npos);
  }
  for (std::size_t at = 0; at < help.size();) {
    const std::size_t end = help.find('\n', at);
    CHECK(end - at <= 80);
    at = end + 1;
  }
}

TEST_CASE("the worst exit code wins") {
  CHECK(worst(ExitCode::kFindings, ExitCode::kSuccess) == ExitCode::kFindings);
  CHECK(worst(ExitCode::kFileTrouble, ExitCode::kFindings) == ExitCode::kFileTrouble);
  CHECK(worst(ExitCode::kLimit, ExitCode::kInternal) == ExitCode::kInternal);
  CHECK(exit_code_of(DiagCode::kFileNotReadable) == ExitCode::kFileTrouble);
  CHECK(exit_code_of(DiagCode::kNestingTooDeep) == ExitCode::kLimit);
  Diagnostics diagnostics;
  CHECK(exit_code_of(diagnostics) == ExitCode::kSuccess);
  diagnostics.warning(DiagCode::kEmptyFile, {}, "w");
  CHECK(exit_code_of(diagnostics) == ExitCode::kSuccess);
  diagnostics.error(DiagCode::kEmptyFile, {}, "e");
  CHECK(exit_code_of(diagnostics) == ExitCode::kFindings);
}

#include <doctest/doctest.h>

#include <set>

#include "../project_files.hpp"
#include "command_line.hpp"
#include "common_settings.hpp"
#include "exit_code.hpp"
#include "mir/codes/files.hpp"
#include "mir/codes/syntax.hpp"
#include "option.hpp"
#include "option_pages.hpp"
#include "tools/interp/run_settings.hpp"
#include "weights/pack.hpp"

using namespace mir;
using namespace mir::tools;

namespace options_test {

namespace {

enum class Pace : std::uint8_t { kSlow, kQuick };
constexpr Choice<Pace> kPaces[] = {{"slow", Pace::kSlow, "safe"}, {"quick", Pace::kQuick}};

struct TestSettings {
  OptionSet& options;

  Flag in_place{options, {.name = "in-place", .letter = 'i', .help = "change the file"}};
  OptionList<std::string> set{
      options,
      {.name = "set", .letter = 's', .argument = "K=V", .help = "a setting"},
      any_text(kRefersToNothing)};
  Option<std::string> lines{
      options, {.name = "lines", .argument = "A:B", .help = "a range"}, any_text(kRefersToNothing)};
  Option<int> level{options,
                    {.name = "level", .argument = "N", .help = "a level"},
                    number<int>({.least = 1, .most = 8}),
                    3};
  Option<double> limit{options,
                       {.name = "limit", .argument = "X", .help = "a limit", .otherwise = "none"},
                       number<double>({.least = 0})};
  Option<std::uint64_t> room{
      options, {.name = "room", .argument = "SIZE", .help = "room"}, byte_size()};
  Option<Pace> pace{
      options, {.name = "pace", .argument = "PACE", .help = "how"}, choice(kPaces), Pace::kSlow};
};

constexpr ToolInfo kTool = {
    .name = "mllm-test",
    .summary = "Tests options.",
    .operands = "[file...]",
    .examples = {{{"mllm-test a", "one"}, {"mllm-test -i b", "two"}}},
};

/// A command line and the rows it was read into.
struct Reading {
  explicit Reading(std::vector<const char*> words) {
    const auto line = split_command_line(rows, words);
    if (line) operands = line->operands;
    const auto read = line ? line->read() : Result<void>(line.error());
    if (!read) error = read.error().message;
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  OptionSet rows;
  TestSettings settings{rows};
  std::vector<std::string> operands;
  std::string error;
};

std::string error_of(std::vector<const char*> words) {
  return Reading(std::move(words)).error;
}

}  // namespace

TEST_CASE("options and operands come in any order") {
  const Reading read({"a", "-i", "-", "--lines=1:2", "-sx=1", "--set", "y=2", "--", "--set"});
  REQUIRE(read.error == "");
  CHECK(bool(read.settings.in_place));
  CHECK(*read.settings.lines == "1:2");
  CHECK(*read.settings.set == std::vector<std::string>{"x=1", "y=2"});
  CHECK(read.operands == std::vector<std::string>{"a", "-", "--set"});
  CHECK_FALSE(read.settings.pace.is_given());
}

TEST_CASE("a row holds the typed value, or its default") {
  const Reading without({});
  CHECK(*without.settings.level == 3);
  CHECK(*without.settings.pace == Pace::kSlow);
  CHECK(without.settings.limit.if_given() == std::nullopt);
  const Reading with({"--level=8", "--pace=quick", "--limit=0.5", "--room=3MiB"});
  REQUIRE(with.error == "");
  CHECK(*with.settings.level == 8);
  CHECK(*with.settings.pace == Pace::kQuick);
  CHECK(with.settings.limit.if_given() == 0.5);
  CHECK(*with.settings.room == 3u << 20);
  CHECK(with.settings.room.given().front() == "3MiB");
}

TEST_CASE("a command line that is not understood says why") {
  CHECK(error_of({"--frob"}) == "unrecognised option '--frob'");
  CHECK(error_of({"--line=1:2"}) == "unrecognised option '--line'; did you mean '--lines'?");
  CHECK(error_of({"--lines"}) == "the required argument for option '--lines' is missing");
  CHECK(error_of({"--lines=1:2", "--lines=3:4"}) == "option '--lines' is given twice");
  CHECK(error_of({"--operand=x"}) != "");
}

TEST_CASE("an argument that a type does not have is refused with what it has") {
  CHECK(error_of({"--level=x"}) == "--level is a number from 1 to 8, found 'x'");
  CHECK(error_of({"--level=0"}) == "--level is a number from 1 to 8, found '0'");
  CHECK(error_of({"--level=9"}) == "--level is a number from 1 to 8, found '9'");
  CHECK(error_of({"--level=3x"}) == "--level is a number from 1 to 8, found '3x'");
  CHECK(error_of({"--limit=-1"}) == "--limit is a number from 0 on, found '-1'");
  CHECK(error_of({"--limit=nan"}) == "--limit is a number from 0 on, found 'nan'");
  CHECK(error_of({"--room=3MB"}) == "--room is a number, found '3MB'");
  CHECK(error_of({"--room=17179869184GiB"}) == "--room: more than 2^64 bytes");
  CHECK(error_of({"--pace=quik"}) ==
        "--pace is slow or quick, found 'quik'; did you mean 'quick'?");
}

TEST_CASE("the help page is made from the rows and ends with two examples") {
  OptionSet rows;
  const TestSettings settings{rows};
  const CommonSettings common{rows, kTool};
  const std::string help = help_text(kTool, rows);
  CHECK(
      help.starts_with("Tests options.\n\nUsage: mllm-test [options] [file...]\n\nOptions:\n"
                       "  -i, --in-place          change the file\n"
                       "  -s, --set=K=V           a setting\n"
                       "      --lines=A:B         a range\n"
                       "      --level=N           a level (default: 3)\n"
                       "      --limit=X           a limit (default: none)\n"
                       "      --room=SIZE         room\n"
                       "      --pace=PACE         how: slow (safe; default) or quick\n"));
  CHECK(help.ends_with("\nExamples:\n  mllm-test a\n      one\n  mllm-test -i b\n      two\n"));
  for (const OptionRow* row : rows.rows()) {
    CHECK(help == test::Part{"--" + std::string(row->name())});
  }
  for (std::size_t at = 0; at < help.size();) {
    const std::size_t end = help.find('\n', at);
    CHECK(end - at <= 80);
    at = end + 1;
  }
}

TEST_CASE("a tool's own row takes the place of a common one") {
  OptionSet rows;
  const Option<std::string> own{
      rows, {.name = "output", .argument = "FOLDER", .help = "a folder"}, read_folder()};
  const CommonSettings common{rows, kTool};
  CHECK(rows.find("output") == &own);
  CHECK(rows.find("max-errors") == &common.max_errors);
}

TEST_CASE("options that exclude each other are named together") {
  const Reading one({"-i"}), two({"-i", "--level=2"});
  const auto together = [](const TestSettings& settings) {
    return refuse_together({&settings.in_place, &settings.lines, &settings.level});
  };
  CHECK(together(one.settings));
  REQUIRE_FALSE(together(two.settings));
  CHECK(together(two.settings).error().message ==
        "--in-place, --lines and --level exclude each other");
}

TEST_CASE("an option without effect is refused with what it needs") {
  struct Conditions {
    OptionSet& options;
    OptionGroup first{options, "First"};
    Flag draw{options, {.name = "draw", .help = "draw"}};
    Option<Pace> pace{
        options, {.name = "pace", .argument = "PACE", .help = "how"}, choice(kPaces), Pace::kSlow};
    OptionGroup second{options, "Second"};
    Flag colour{options, {.name = "colour", .help = "in colour", .needs = "draw pace=quick"}};
    Flag plain{options, {.name = "plain", .help = "plainly", .excludes = "colour"}};
    Option<std::string> fact{
        options,
        {.name = "fact",
         .argument = "X",
         .help = "a fact",
         .needs = "pass:upgrade",
         .acts_alone = [](std::span<const std::string> given) { return given.front() == "text"; }},
        any_text(kRefersToNothing)};
    OptionGroup again{options, "First"};
    Flag last{options, {.name = "last", .help = "last"}};
  };
  const auto check = [](std::vector<const char*> words, bool knows_passes = false) {
    OptionSet rows;
    const Conditions settings{rows};
    const auto line = split_command_line(rows, words);
    REQUIRE(line);
    REQUIRE(line->read());
    std::vector<std::string> operands;
    const auto has_pass = [](std::string_view pass) { return pass == "downgrade"; };
    const auto fits = knows_passes ? rows.check_conditions(has_pass) : rows.check(operands);
    return fits ? std::string() : fits.error().message;
  };
  CHECK(check({"--colour"}) == "--colour has no effect without --draw or --pace=quick");
  CHECK(check({"--colour", "--pace=slow"}) != "");
  CHECK(check({"--colour", "--pace=quick"}) == "");
  CHECK(check({"--colour", "--draw"}) == "");
  CHECK(check({"--colour", "--draw", "--plain"}) == "--plain has no effect with --colour");
  CHECK(check({"--fact=x"}) == "");  // the pipeline is not known
  CHECK(check({"--fact=x"}, true) == "--fact has no effect without the pass 'upgrade'");
  CHECK(check({"--fact=text"}, true) == "");

  OptionSet rows;
  const Conditions settings{rows};
  CHECK(settings.fact.is_read_by("upgrade"));
  CHECK_FALSE(settings.fact.is_read_by("simplify"));
  CHECK(settings.draw.is_read_by("simplify"));
  CHECK(help_text(kTool, rows) ==
        test::Part{"\n\nFirst:\n"
                   "      --draw              draw\n"
                   "      --pace=PACE         how: slow (safe; default) or quick\n"
                   "      --last              last\n"
                   "\n"
                   "Second:\n"
                   "      --colour            with --draw or --pace=quick: in colour\n"});
}

TEST_CASE("commands take the operands and options that are theirs") {
  constexpr CommandRow<int> kCommands[] = {
      {{.name = "pack", .summary = "packs", .operands = "one file", .most = 1}, 10},
      {{.name = "show", .summary = "shows", .operands = "two files", .fewest = 2}, 20}};
  const auto check = [&](std::vector<const char*> words) -> std::string {
    OptionSet rows;
    const Command<int> command{rows, kCommands};
    OptionSet packing{rows, "pack"};
    const Option<std::string> to{
        packing,
        {.name = "to", .argument = "FILE", .help = "where", .is_needed = true},
        any_text(kRefersToNothing)};
    auto line = split_command_line(rows, words);
    if (!line || !line->read()) return "not read";
    if (const auto fits = rows.check(line->operands); !fits) return fits.error().message;
    return fmt::format("{} {}", *command, line->operands.size());
  };
  CHECK(check({"pack", "a", "--to=b"}) == "10 1");
  CHECK(check({"show", "a", "b", "c"}) == "20 3");
  CHECK(check({}) == "expected a command: pack or show");
  CHECK(check({"shwo"}) == "unknown command 'shwo': expected pack or show; did you mean 'show'?");
  CHECK(check({"show", "a"}) == "show takes two files");
  CHECK(check({"pack", "a"}) == "pack needs --to");
  CHECK(check({"show", "a", "b", "--to=b"}) == "--to is not for show");
}

TEST_CASE("rows that come first are read first, and their errors come first") {
  std::vector<std::string> order;
  const auto noting = [&](bool fails) {
    auto argument = any_text(kRefersToNothing);
    argument.read = [&order, fails](std::string_view option,
                                    std::string_view text) -> Result<std::string> {
      order.push_back(fmt::format("{}={}", option, text));
      if (fails) return Error{diag::kFileNotReadable, order.back()};
      return std::string(text);
    };
    return argument;
  };
  const auto error_of_first = [&](bool fails) {
    OptionSet rows;
    const OptionList<std::string> name{
        rows, {.name = "name", .argument = "N", .help = "a name"}, noting(fails)};
    const OptionList<std::string> load{
        rows,
        {.name = "load", .argument = "FILE", .help = "names", .turn = ReadingTurn::kPasses},
        noting(fails)};
    const OptionList<std::string> dialect{
        rows,
        {.name = "dialect", .argument = "FILE", .help = "ops", .turn = ReadingTurn::kDialects},
        noting(fails)};
    order.clear();
    const auto line = split_command_line(
        rows, std::vector<const char*>{"--name=a", "--load=b", "--dialect=d", "--load=c"});
    const auto read = line->read();
    return read ? std::string() : read.error().message;
  };
  const std::vector<std::string> expected = {"dialect=d", "load=b", "load=c", "name=a"};
  CHECK(error_of_first(false) == "");
  CHECK(order == expected);
  CHECK(error_of_first(true) == "dialect=d");
  CHECK(order == expected);
}

TEST_CASE("the options that a pack can carry are those of a run") {
  OptionSet rows;
  const RunSettings settings{rows};
  std::set<std::string_view> carried;
  for (const PackOption& option : kPackOptions) {
    CAPTURE(option.name);
    carried.insert(option.name);
    REQUIRE(rows.find(option.name) != nullptr);
    CHECK(rows.find(option.name)->is_repeatable() == option.repeatable);
  }
  for (const OptionRow* row : rows.rows()) {
    CAPTURE(row->name());
    CHECK(carried.contains(row->name()));
  }
}

TEST_CASE("the rows that the guide shows are those of the tools") {
  const auto blanks_dropped = [](std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
  };
  std::string tools;
  for (const char* file : {"interp/settings.hpp", "weights/settings.hpp"})
    tools += blanks_dropped(test::read_whole(test::kRoot / "tools" / file));
  const std::string guide = test::read_whole(test::kRoot / "docs/howto/add-an-option.md");
  constexpr std::string_view kOpen = "```cpp\n", kClose = "```";
  std::size_t rows = 0;
  for (std::size_t at = guide.find(kOpen); at != guide.npos; at = guide.find(kOpen, at + 1)) {
    const std::size_t from = at + kOpen.size();
    const std::string row = guide.substr(from, guide.find(kClose, from) - from);
    CAPTURE(row);
    CHECK(tools == test::Part{blanks_dropped(row)});
    ++rows;
  }
  CHECK(rows == 4);
}

TEST_CASE("the worst exit code wins") {
  CHECK(worst(ExitCode::kFindings, ExitCode::kSuccess) == ExitCode::kFindings);
  CHECK(worst(ExitCode::kFileTrouble, ExitCode::kFindings) == ExitCode::kFileTrouble);
  CHECK(worst(ExitCode::kLimit, ExitCode::kInternal) == ExitCode::kInternal);
  CHECK(exit_code_of(diag::kFileNotReadable) == ExitCode::kFileTrouble);
  CHECK(exit_code_of(diag::kNestingTooDeep) == ExitCode::kLimit);
  Diagnostics diagnostics;
  CHECK(exit_code_of(diagnostics) == ExitCode::kSuccess);
  diagnostics.warning(diag::kEmptyFile, {}, "w");
  CHECK(exit_code_of(diagnostics) == ExitCode::kSuccess);
  diagnostics.error(diag::kEmptyFile, {}, "e");
  CHECK(exit_code_of(diagnostics) == ExitCode::kFindings);
}

}  // namespace options_test

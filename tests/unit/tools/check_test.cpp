// Check lines against texts: what they mean, what is reported, and that searches end.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tools/check/case_files.hpp"
#include "tools/check/match_checks.hpp"
#include "tools/check/nearest_line.hpp"

using namespace mir;
using namespace mir::tools;

namespace check_test {

namespace {

using Lines = std::vector<std::string>;

std::string place(Span at, const SourceManager& sources) {
  const SourceFile* file = sources.file_of(at.begin);
  if (file == nullptr) return "-";
  const LineColumn where = file->line_column(at.begin);
  return fmt::format("{}:{}", where.line, where.column);
}

Lines lines_of(const Diagnostics& diagnostics, const SourceManager& sources) {
  Lines lines;
  for (const Diagnostic& each : diagnostics.sorted()) {
    lines.push_back(
        fmt::format("{} {} {}", place(each.at, sources), spelling(each.code), each.message));
    for (const Note& note : each.notes) {
      lines.push_back(fmt::format("  {} {}", place(note.at, sources), note.message));
    }
    if (!each.hint.empty()) lines.push_back("  " + each.hint);
  }
  return lines;
}

/// What is wrong with check lines, or with the output by them. Each line of `checks` is what
/// follows the two slashes.
Lines problems(const Lines& checks, const std::string& output,
               std::chrono::milliseconds limit = std::chrono::minutes(1)) {
  std::string text;
  for (const std::string& check : checks) text += "// " + check + "\n";
  SourceManager sources;
  Diagnostics diagnostics(0);
  const CheckPrefixes prefixes = {"CHECK"};
  const auto read = read_checks(*sources.add("case", text), prefixes, diagnostics);
  if (diagnostics.has_errors()) return lines_of(diagnostics, sources);
  CHECK(read.size() == checks.size());
  const OutputText whole(*sources.add("output", output), prefixes,
                         std::chrono::steady_clock::now() + limit);
  match_checks(read, whole, diagnostics);
  return lines_of(diagnostics, sources);
}

/// The first problem without its place.
std::string first(const Lines& found) {
  return found.empty() ? "" : found.front().substr(found.front().find(' ') + 1);
}

bool holds(const Lines& checks, const std::string& output) {
  const Lines found = problems(checks, output);
  if (!found.empty()) CHECK(first(found).starts_with("MIR091"));
  return found.empty();
}

}  // namespace

TEST_SUITE("check lines") {
  TEST_CASE("texts are found in order, each after the one before it") {
    CHECK(holds({"CHECK: one", "CHECK: two"}, "one two"));
    CHECK(holds({"CHECK: one", "CHECK: two"}, "x\none\n\ny two\n"));
    CHECK_FALSE(holds({"CHECK: two", "CHECK: one"}, "one\ntwo\n"));
    CHECK_FALSE(holds({"CHECK: one", "CHECK: one"}, "one\n"));
    CHECK(holds({"CHECK: a.b(*)"}, "x a.b(*) y"));
    CHECK_FALSE(holds({"CHECK: a.b"}, "axb"));
  }

  TEST_CASE("a run of blanks is as good as any other, and lines end as they will") {
    CHECK(holds({"CHECK:   a  b  "}, "a \t b\r\n"));
    CHECK(holds({"CHECK: a", "CHECK-EMPTY:", "CHECK-NEXT: {{^}}b{{$}}"}, "a\r\n\r\nb\r\n"));
    CHECK_FALSE(holds({"CHECK: a b"}, "ab"));
    CHECK_FALSE(holds({"CHECK: a b"}, "a\nb"));
  }

  TEST_CASE("the next line, the same line and an empty line are those of the last match") {
    CHECK(holds({"CHECK: a", "CHECK-NEXT: b", "CHECK-SAME: c", "CHECK-EMPTY:"}, "a\nb c\n\n"));
    CHECK_FALSE(holds({"CHECK: a", "CHECK-NEXT: b"}, "a b\nc\nb"));
    CHECK_FALSE(holds({"CHECK: a", "CHECK-SAME: b"}, "b a\nb"));
    CHECK_FALSE(holds({"CHECK: a", "CHECK-EMPTY:"}, "a\n"));
    CHECK_FALSE(holds({"CHECK: a", "CHECK-EMPTY:"}, "a\n \n"));
  }

  TEST_CASE("a forbidden text is one between the matches around it") {
    const Lines between = {"CHECK: a", "CHECK-NOT: x", "CHECK: b"};
    CHECK(holds(between, "x a b x"));
    CHECK_FALSE(holds(between, "a x b"));
    CHECK_FALSE(holds(between, "a\nx\nb"));
    CHECK(holds({"CHECK-NOT: x", "CHECK: b"}, "b x"));
    CHECK_FALSE(holds({"CHECK-NOT: x", "CHECK: b"}, "x b"));
    CHECK_FALSE(holds({"CHECK: b", "CHECK-NOT: x"}, "b\ny\nx"));
    CHECK_FALSE(holds({"CHECK-NOT: y", "CHECK-NOT: x"}, "b\nx"));
    CHECK(problems(between, "a x\nb") ==
          Lines{"2:15 MIR0911 the text is found, and must not be here", "  1:3 it is here"});
  }

  TEST_CASE("texts in any order lie apart from each other") {
    CHECK(holds({"CHECK-DAG: a", "CHECK-DAG: b", "CHECK: c"}, "b\na\nc"));
    CHECK_FALSE(holds({"CHECK-DAG: a", "CHECK-DAG: a"}, "a"));
    CHECK(holds({"CHECK-DAG: a", "CHECK-DAG: a"}, "a a"));
    CHECK_FALSE(holds({"CHECK-DAG: a", "CHECK-DAG: b", "CHECK: c"}, "c a b"));
    // What is forbidden between two groups keeps them apart.
    CHECK_FALSE(holds({"CHECK-DAG: a", "CHECK-NOT: x", "CHECK-DAG: b"}, "b a"));
    CHECK_FALSE(holds({"CHECK-DAG: a", "CHECK-NOT: x", "CHECK-DAG: b"}, "a x b"));
  }

  TEST_CASE("labels cut the output: what follows one is found before the next") {
    const Lines checks = {"CHECK-LABEL: @f", "CHECK: a", "CHECK-LABEL: @g", "CHECK: b"};
    CHECK(holds(checks, "@f\na\n@g\nb\n"));
    CHECK(problems(checks, "@f\n@g\na b\n") ==
          Lines{"2:11 MIR0910 the text is not found after the last match",
                "  1:3 the search begins here",
                "  3:1 the text is found here, after the end of the search"});
    // Each block is reported by itself.
    CHECK(problems(checks, "@f\nx\n@g\nx\n").size() > 2);
    CHECK(first(problems(checks, "@g\na")) == "MIR0910 the text is not found in the output");
    CHECK(holds({"CHECK-LABEL: @f", "CHECK-NOT: a", "CHECK-LABEL: @g"}, "@f\n@g\na"));
  }

  TEST_CASE("a count is a number of matches one after the other") {
    CHECK(holds({"CHECK-COUNT-3: ab", "CHECK-NOT: ab"}, "ab ab\nab"));
    CHECK(first(problems({"CHECK-COUNT-3: ab"}, "ab\nab")) ==
          "MIR0910 the text is found 2 times, expected 3");
  }

  TEST_CASE("expressions and variables are written in the text") {
    CHECK(holds({"CHECK: %{{[0-9]+}} = {{neg|abs}} x"}, "%17 = abs x"));
    CHECK(holds({"CHECK: {{a{2}}}b"}, "aab"));
    CHECK(holds({"CHECK: ([[X:%[0-9]+]]) -> ([[Y:.*]])", "CHECK-NEXT: ([[Y]]) -> ([[X]])"},
                "(%1) -> (%2)\n(%2) -> (%1)"));
    CHECK_FALSE(holds({"CHECK: [[X:[0-9]+]]", "CHECK: [[X]]"}, "1\n2"));
    // A value is text; within one line it is what was just found.
    CHECK_FALSE(holds({"CHECK: [[X:.+]] =", "CHECK: [[X]]"}, "a.c =\nabc"));
    CHECK(holds({"CHECK: add [[X:%[0-9]+]], [[X]]{{$}}"}, "add %1, %2\nadd %3, %3"));
    CHECK_FALSE(holds({"CHECK: add [[X:%[0-9]+]], [[X]]{{$}}"}, "add %1, %2"));
    CHECK(holds({"CHECK: [[$X:a]]", "CHECK: [[$X]]"}, "aa"));
    CHECK(holds({"CHECK: [[X:[a-z]+[0-9]]]", "CHECK: [[X]]"}, "ab1 ab1"));
    CHECK(holds({"CHECK: {{(a)(b)}}[[X:c]]", "CHECK: [[X]]"}, "abc c"));
    // What a forbidden text is compared with is known above it.
    CHECK(holds({"CHECK: [[X:.]]", "CHECK-NOT: [[X]]", "CHECK: c[[X:b]]"}, "a\nb\ncb"));
  }

  TEST_CASE("a literal line has neither") {
    CHECK(holds({"CHECK{LITERAL}: [[1, {{2}}]]", "CHECK-NEXT{LITERAL}: [[X]]"},
                "[[1, {{2}}]]\n[[X]]"));
    CHECK_FALSE(holds({"CHECK{LITERAL}: {{.*}}"}, "x"));
  }

  TEST_CASE("lines that are directives meet no check, so that no check meets itself") {
    CHECK_FALSE(holds({"CHECK: abc"}, "// CHECK: abc\n  // RUN: abc\n// CHECK-NEXT: abc\n"));
    CHECK_FALSE(holds({"CHECK: abc"}, "// SSA-NEXT{LITERAL}: abc\n"));
    CHECK(holds({"CHECK: a", "CHECK-NEXT: b"}, "a\n// CHECK-NEXT: b\nb"));
    CHECK(holds({"CHECK: abc"}, "// abc: abc"));
  }

  TEST_CASE("a check that is not met names the nearest line, or the place of its text") {
    CHECK(problems({"CHECK: one", "CHECK: linalg.NegOp(%0) -> (%1)"},
                   "one\nlinalg.AbsOp()\nlinalg.NegOp(%0) -> (%2)\nx\n") ==
          Lines{"2:11 MIR0910 the text is not found after the last match",
                "  1:4 the search begins here", "  3:1 the nearest line is this"});
    CHECK(problems({"CHECK: one", "CHECK: two"}, "two\none\n") ==
          Lines{"2:11 MIR0910 the text is not found after the last match",
                "  2:4 the search begins here",
                "  1:1 the text is found here, before the search begins"});
    CHECK(problems({"CHECK: [[X:o.e]]", "CHECK-NEXT: two [[X]]"}, "one\nx\ntwo one\n") ==
          Lines{"2:16 MIR0910 the text is not found on the line after the last match",
                "  2:1 the search begins here",
                "  3:1 the text is found here, after the end of the search", "  'X' is 'one'"});
    CHECK(problems({"CHECK: zzzz"}, "one\n") ==
          Lines{"1:11 MIR0910 the text is not found in the output"});
  }

  TEST_CASE("an empty output meets nothing, not even what only forbids") {
    CHECK(problems({"CHECK-NOT: a"}, "") == Lines{"1:15 MIR0910 the output is empty"});
    CHECK_FALSE(holds({"CHECK-NOT: a"}, "// CHECK: b\n"));
  }

  TEST_CASE("lines that can never hold are refused with their place") {
    const auto refused = [](const std::string& line) {
      const Lines found = problems({line}, "x");
      REQUIRE(found.size() < 3);
      return found.empty() ? "" : found[0] + (found.size() > 1 ? found[1] : "");
    };
    CHECK(refused("CHECK-NEXT: a") ==
          "1:4 MIR0915 'CHECK-NEXT' goes on from a match, and no check above it makes one");
    CHECK(
        first(problems({"CHECK-NOT: a", "CHECK-NEXT: b"}, "")).starts_with("MIR0915 'CHECK-NEXT'"));
    CHECK(refused("CHECK: [[X]]") == "1:13 MIR0915 no check above defines the variable 'X'");
    CHECK(refused("CHECK: a {{[b}}") ==
          "1:13 MIR0915 the regular expression cannot be read: missing terminating ] for character "
          "class");
    CHECK(refused("CHECK: {{a)(b}}")
              .starts_with("1:11 MIR0915 the regular expression cannot be read"));
    CHECK(refused("CHECK: {{a").starts_with("1:11 MIR0915 '{{' is not closed"));
    CHECK(refused("CHECK: [[1, 2]]")
              .starts_with("1:11 MIR0915 expected the name of a variable, found '1, 2'"));
    CHECK(refused("CHECK: [[X:a]] [[X:b]]") ==
          "1:19 MIR0915 the line defines the variable 'X' twice");
    CHECK(refused("CHECK: " + std::string(100'000, 'a')) ==
          "1:11 MIR0915 the text cannot be searched for: regular expression is too large");
    CHECK(refused("CHECK-NXET: a") ==
          "1:4 MIR0915 no check is called 'CHECK-NXET'  did you mean 'CHECK-NEXT'?");
    CHECK(refused("CHECK_NEXT: a").starts_with("1:4 MIR0915 no check is called 'CHECK_NEXT'"));
    CHECK(refused("CHECK-NEXT a") == "1:4 MIR0915 expected ':' after 'CHECK-NEXT'");
    CHECK(refused("CHECK-COUNT-0: a") ==
          "1:4 MIR0915 a count is a number from 1 to 1000000, found '0'");
    CHECK(refused("CHECK:  ") == "1:4 MIR0915 expected a text after 'CHECK:'");
    CHECK(first(problems({"CHECK: a", "CHECK-EMPTY: a"}, "")) ==
          "MIR0915 'CHECK-EMPTY' takes no text");
    CHECK(refused("CHECK-LABEL: [[X:a]]") ==
          "1:19 MIR0915 a label has no variables: it is looked for before all other checks");
    const Lines misspelt = problems({"CHECK: [[Value:a]]", "CHECK: [[Vaule]]"}, "");
    CHECK(misspelt == Lines{"2:13 MIR0915 no check above defines the variable 'Vaule'",
                            "  did you mean 'Value'?"});
    // What only a forbidden text defines is not known below it.
    CHECK(first(problems({"CHECK: b", "CHECK-NOT: [[X:a]][[X]]", "CHECK: [[X]]"}, "")) ==
          "MIR0915 no check above defines the variable 'X'");
  }

  TEST_CASE("a near miss of a directive is refused, because the case would pass without it") {
    const auto refused = [](const std::string& line) {
      const Lines found = problems({line}, "x");
      return found.empty() ? "" : found[0] + (found.size() > 1 ? found[1] : "");
    };
    for (const std::string word : {"CHECKNEXT", "CHECK NEXT", "Check-NEXT", "check-next",
                                   "CHECKNXT", "CHCEK-NEXT", "CHECK - NEXT", "CHECK.NEXT"}) {
      CHECK(
          refused(word + ": a") ==
          fmt::format("1:4 MIR0915 no directive is called '{}'  did you mean 'CHECK-NEXT'?", word));
    }
    for (const std::string word : {"CHECKS", "CHEK", "Check", "check", "CHECKK"}) {
      CHECK(refused(word + ": a") ==
            fmt::format("1:4 MIR0915 no directive is called '{}'  did you mean 'CHECK'?", word));
    }
    CHECK(refused("CHECKCOUNT-2: a").ends_with("did you mean 'CHECK-COUNT'?"));
    CHECK(refused("CHECK COUNT 2: a").ends_with("did you mean 'CHECK-COUNT'?"));
    CHECK(refused("CHECKNOT{LITERAL}: a").ends_with("did you mean 'CHECK-NOT'?"));
    CHECK(refused("CHECK : a") == "1:4 MIR0915 expected ':' right after 'CHECK'");
    SourceManager slashes;
    Diagnostics found(0);
    CHECK(read_checks(*slashes.add("case", "/// CHECK: a"), {"CHECK"}, found).empty());
    CHECK(lines_of(found, slashes) ==
          Lines{"1:5 MIR0915 expected '// CHECK:', found more slashes"});
    const auto command_refused = [](const std::string& line) {
      SourceManager sources;
      Diagnostics diagnostics(0);
      CHECK(read_commands(*sources.add("case", line), {}, diagnostics).empty());
      const Lines lines = lines_of(diagnostics, sources);
      return lines.empty() ? "" : lines[0];
    };
    CHECK(command_refused("// Run: true") == "1:4 MIR0915 no directive is called 'Run'");
    CHECK(command_refused("// RUN : true") == "1:4 MIR0915 expected ':' right after 'RUN'");
    CHECK(command_refused("// exit: 1") == "1:4 MIR0915 no directive is called 'exit'");
    CHECK(command_refused("// RUNS: true") == "1:4 MIR0915 no directive is called 'RUNS'");
    CHECK(command_refused("// EXITS: 1") == "1:4 MIR0915 no directive is called 'EXITS'");
    CHECK(command_refused("// runs: true").empty());
    CHECK(command_refused("// running: 1").empty());
  }

  TEST_CASE("a directive of lit is refused, because the case would be judged without it") {
    for (const std::string word : {"XFAIL", "REQUIRES", "UNSUPPORTED", "ALLOW_RETRIES", "DEFINE"}) {
      SourceManager sources;
      Diagnostics diagnostics(0);
      CHECK(read_commands(*sources.add("case", "// " + word + ": *"), {}, diagnostics).empty());
      CHECK(lines_of(diagnostics, sources).at(0) ==
            fmt::format("1:4 MIR0915 '{}' is a directive of lit that does not work here", word));
    }
    SourceManager sources;
    Diagnostics diagnostics(0);
    CHECK(read_commands(*sources.add("case", "// REQUIRES two\n// Requires: two"), {}, diagnostics)
              .empty());
    CHECK(lines_of(diagnostics, sources) == Lines{});
  }

  TEST_CASE("words of other commands and prose are no near misses") {
    SourceManager sources;
    Diagnostics diagnostics(0);
    const std::string text =
        "// RUN: a %s | mllm-check --input=- --check-prefix=CHECKS,CHEK %s\n"
        "// CHECKS: x\n// CHEK-NEXT: x\n// checks: x\n// LABEL: x\n// CHECK1: x\n// CHECK: a\n";
    CHECK(read_checks(*sources.add("case", text), {"CHECK"}, diagnostics).size() == 1);
    CHECK(lines_of(diagnostics, sources) == Lines{});
  }

  TEST_CASE("prose that begins with the word is no check") {
    SourceManager sources;
    Diagnostics diagnostics;
    const auto checks = read_checks(
        *sources.add("case", "// CHECK that: this\n// CHECKED: x\n//CHECK: a\nx // CHECK: b\n"),
        {"CHECK"}, diagnostics);
    CHECK_FALSE(diagnostics.has_errors());
    CHECK(checks.size() == 1);
  }

  TEST_CASE("other words begin checks where they are asked for, the longest that fits") {
    SourceManager sources;
    Diagnostics diagnostics;
    const auto checks = read_checks(
        *sources.add("case", "// SSA: a\n// CHECK-NXT: b\n// SSA-X-NEXT: c\n// SSA-X: d\n"),
        {"SSA", "SSA-X"}, diagnostics);
    CHECK_FALSE(diagnostics.has_errors());
    REQUIRE(checks.size() == 3);
    CHECK(checks[1].kind == CheckKind::kNext);
    CHECK(checks[2].kind == CheckKind::kPlain);
    CHECK_FALSE(is_check_prefix("RUN"));
    CHECK_FALSE(is_check_prefix("A B"));
    CHECK_FALSE(is_check_prefix(""));
  }

  TEST_CASE("a search that would not end is given up") {
    const std::string hostile = std::string(200, 'x') + "zy";
    CHECK(first(problems({"CHECK: {{(x+x+)+y}}"}, hostile))
              .starts_with("MIR0915 the text cannot be searched for: match limit exceeded"));
    std::string lines;
    for (int i = 0; i < 1000; ++i) lines += "x\n";
    CHECK(problems({"CHECK: y", "CHECK: z"}, lines, std::chrono::milliseconds(-1)) ==
          Lines{"1:11 MIR0914 the search was given up at the time limit"});
    CHECK(first(problems({"CHECK: {{((a{1000}){1000}){1000}}}"}, "a")).starts_with("MIR0915"));
    CHECK(first(problems({"CHECK: {{" + std::string(100'000, '(') + "}}"}, "a"))
              .starts_with("MIR0915"));
    CHECK(first(problems({"CHECK: {{(?R)|(?R)}}"}, "a")).starts_with("MIR0915"));
  }

  TEST_CASE("bytes that are not UTF-8 and NUL bytes end no search") {
    CHECK(holds({"CHECK: a{{.*}}b", "CHECK: c"}, std::string("\xff\xfe\na b\n\0c\n", 11)));
  }

  TEST_CASE("the nearest line has at least half of the text") {
    const std::vector<std::string_view> lines = {"abcd", "abcdef", "xyz"};
    CHECK(nearest_line("abcdefgh", lines) == 1);
    CHECK(nearest_line("abqrstuv", lines) == std::nullopt);
    CHECK(nearest_line("", lines) == std::nullopt);
    CHECK(nearest_line("x y z", lines) == 2);
  }
}

TEST_SUITE("cases") {
  /// `name: command=status command=status`, or what is wrong.
  Lines cases_of(const std::string& text) {
    SourceManager sources;
    Lines list;
    for (const TestCase& each : read_cases(*sources.add("f", text), {"CHECK"}, sources)) {
      std::string line = each.name + ":";
      for (const TestCommand& command : each.commands) {
        line += fmt::format(" {}={}", command.text, command.exit_status);
      }
      list.push_back(line);
      for (const std::string& problem : lines_of(each.problems, sources)) list.push_back(problem);
    }
    return list;
  }

  TEST_CASE("commands are run in order, a status is of the command above it") {
    CHECK(cases_of("x\n  //RUN: a\n// EXIT: 3\n// RUN:  b \n") == Lines{"f: a=3 b=0"});
    CHECK(
        cases_of("// EXIT: 3\n// RUN: a\n") ==
        Lines{"f: a=0", "1:4 MIR0915 'EXIT' is the status of the 'RUN' line above it, found none"});
    CHECK(cases_of("// RUN: a\n// EXIT: 256\n") ==
          Lines{"f: a=0", "2:10 MIR0915 an exit status is a number from 0 to 255, found '256'"});
    CHECK(cases_of("// RUN:\n") == Lines{"f:", "1:4 MIR0915 expected a command after 'RUN:'"});
    CHECK(cases_of(std::string("// RUN: a\0b\n", 13)) ==
          Lines{"f:", "1:9 MIR0915 a command has no NUL byte: it would end there"});
    CHECK(cases_of("text\n") ==
          Lines{"f:", "1:1 MIR0915 no line '// RUN: command' says what is run"});
  }

  TEST_CASE("parts without commands run those of the first part, which may be no case itself") {
    CHECK(cases_of("// RUN: a\n// text\n// -----\nx\n// -----\n// EXIT: 1\ny\n") ==
          Lines{"f:4: a=0", "f:6: a=1"});
    CHECK(cases_of("// RUN: a\nx\n// -----\ny\n") == Lines{"f:1: a=0", "f:4: a=0"});
    CHECK(cases_of("// RUN: a\n// CHECK: x\n// -----\ny\n") == Lines{"f:1: a=0", "f:4: a=0"});
    CHECK(cases_of("// RUN: a\n// -----\n// RUN: b\n") == Lines{"f:1: a=0", "f:3: b=0"});
    CHECK(cases_of("x\n// -----\n// RUN: b\n").size() == 3);
    CHECK(cases_of("// text\n// -----\n// RUN: b\n") == Lines{"f:3: b=0"});
    CHECK(cases_of("// EXIT: 1\n// -----\n// RUN: b\n").size() == 3);
    CHECK(cases_of("// text\n// -----\nx\n").size() == 2);
    CHECK(
        cases_of("// RUN: a\n// -----\n// EXIT: 1\n// RUN: b\n").back().starts_with("3:4 MIR0915"));
  }

  TEST_CASE("a file that a command splits by itself is one case") {
    CHECK(cases_of("// RUN: a --split-input-file %s\nx\n// -----\ny\n").size() == 1);
  }

  TEST_CASE("checks are left to a command that makes them") {
    SourceManager sources;
    const auto checks = [&](const std::string& command) {
      const auto text = fmt::format("// RUN: {}\n// CHECK: a\n", command);
      return read_cases(*sources.add("f", text), {"CHECK"}, sources).front().checks.size();
    };
    CHECK(checks("a | mllm-check --input=- %s") == 0);
    CHECK(checks("mllm-check --input=x other") == 1);
    CHECK(checks("a %s") == 1);
  }
}

}  // namespace check_test

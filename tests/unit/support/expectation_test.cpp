#include "support/expectation.hpp"

#include <doctest/doctest.h>

#include <string>

#include "mir/codes/verification.hpp"

using namespace mir;

namespace {

/// The parts of a text as `first_line:text` between bars.
std::string parts(std::string_view text) {
  std::string all;
  for (const InputPart& part : split_input(text)) {
    all += std::to_string(part.first_line) + ":" + std::string(part.text) + "|";
  }
  return all;
}

/// What is wrong with a text whose lines 2 and 3 have an error each and a note on line 1.
std::string differences(std::string text, std::uint32_t first_line = 1) {
  SourceManager sources;
  const SourceFile& file = *sources.add("f", std::move(text), first_line);
  Diagnostics found;
  const auto at = [&](std::uint32_t line) {
    const SourcePos begin = file.position_of(file.line(first_line + line - 1).data());
    return Span{begin, begin + 1};
  };
  found.error(diag::kUnknownOp, at(2), "no 'x' here").note(at(1), "begun here");
  found.error(diag::kWrongArity, at(3), "too many");
  std::string all;
  for (const Diagnostic& each : check_expectations(file, sources, found).sorted()) {
    all += std::to_string(file.line_column(each.at.begin).line) + " " + spelling(each.code) + " " +
           each.message + "\n";
  }
  return all;
}

/// The line that an expectation on line 3 of 5, before an op on line 4, points at.
std::string line_of(const std::string& place) {
  const SourceFile file("f", "a\nb\n// expect-error" + place + " {{x}}\nc\nd\n", 1);
  Diagnostics diagnostics;
  const auto read = read_expectations(file, diagnostics);
  return diagnostics.has_errors() ? "malformed" : std::to_string(read.at(0).line);
}

}  // namespace

TEST_CASE("a text is split at separating lines and its parts know their first line") {
  CHECK(parts("") == "1:|");
  CHECK(parts("a\nb\n") == "1:a\nb\n|");
  CHECK(parts("a\n// -----\nb\n// ----- \t\r\nc") == "1:a\n|3:b\n|5:c|");
  CHECK(parts("// -----\n// -----\n") == "1:|2:|3:|");
  CHECK(parts("// ------\nx // -----\n // -----\n") == "1:// ------\nx // -----\n // -----\n|");
}

TEST_CASE("what is expected and reported agrees in kind, line, code and text") {
  CHECK(differences("// expect-note {{begun}}\nx // expect-error {{no 'x' here}}\n"
                    "y // expect-error[MIR0401] {{}}\n") == "");
  CHECK(differences("// expect-note {{begun}}\nx // expect-error {{no 'x' here}}\n"
                    "y // expect-error[MIR0401] {{}}\n",
                    70) == "");
  CHECK(differences("a // expect-note {{begun here}}\nb\nc // expect-error {{many}}\n"
                    "// expect-error@-2 {{no}}\n") == "");
}

TEST_CASE("an expectation that is not met and a diagnostic that is not expected are named") {
  CHECK(differences("a\nb\nc\n") ==
        "1 MIR0902 unexpected note[MIR0400]: begun here\n"
        "2 MIR0902 unexpected error[MIR0400]: no 'x' here\n"
        "3 MIR0902 unexpected error[MIR0401]: too many\n");
  const std::string good = "a // expect-note {{begun}}\nb // expect-error {{no}}\n";
  CHECK(differences(good + "c // expect-warning {{too many}}\n") ==
        "3 MIR0902 unexpected error[MIR0401]: too many\n"
        "3 MIR0901 expected warning on line 3 was not reported: 'too many'\n");
  CHECK(differences(good + "c // expect-error[MIR0400] {{too many}}\n") ==
        "3 MIR0902 unexpected error[MIR0401]: too many\n"
        "3 MIR0901 expected error[MIR0400] on line 3 was not reported: 'too many'\n");
  CHECK(differences(good + "c // expect-error {{too few}}\n// expect-error@-1 {{too many}}\n") ==
        "3 MIR0901 expected error on line 3 was not reported: 'too few'\n");
  CHECK(differences(good + "c // expect-error {{too many}}\n// expect-error@-1 {{too many}}\n") ==
        "4 MIR0901 expected error on line 3 was not reported: 'too many'\n");
  CHECK(differences(good + "c // expect-error {{too many}}\n// expect-remark@unknown {{r}}\n") ==
        "4 MIR0901 expected remark without a place was not reported: 'r'\n");
}

TEST_CASE("a place is counted from the comment or skips other expectations") {
  CHECK(line_of("") == "3");
  CHECK(line_of("@+1") == "4");
  CHECK(line_of("@-2") == "1");
  CHECK(line_of("@below") == "4");
  CHECK(line_of("@above") == "2");
  CHECK(line_of("@unknown") == "0");
  CHECK(line_of("@+0") == "3");
  for (const char* place : {"@-3", "@+4", "@", "@1", "@+x", "@+", "@+99999999999999999999", "@up",
                            "x", "[MIR0400", "@ +1"}) {
    CAPTURE(place);
    CHECK(line_of(place) == "malformed");
  }
  const SourceFile file("f", "// expect-error@below {{x}}\n// expect-error@below {{y}}\nop", 1);
  Diagnostics diagnostics;
  for (const ExpectedDiagnostic& each : read_expectations(file, diagnostics)) CHECK(each.line == 3);
}

TEST_CASE("a comment that begins like an expectation and is none is reported") {
  for (const char* comment : {"// expect-eror {{x}}", "// expect-error", "// expect-error {{x",
                              "// expect-error x}}", "// expect-error }}{{"}) {
    CAPTURE(comment);
    const SourceFile file("f", comment, 1);
    Diagnostics diagnostics;
    CHECK(read_expectations(file, diagnostics).empty());
    CHECK(diagnostics.error_count() == 1);
  }
  const SourceFile file("f", "// expect-error {{a {{b}} c}}\n// expected {{x}}\n", 1);
  Diagnostics diagnostics;
  const auto read = read_expectations(file, diagnostics);
  REQUIRE(read.size() == 1);
  CHECK(read[0].text == "a {{b}} c");
  CHECK_FALSE(diagnostics.has_errors());
}

TEST_CASE("errors beyond the limit of a run are a difference") {
  SourceManager sources;
  const SourceFile& file = *sources.add("f", "// expect-error {{e}}\n");
  Diagnostics found(1);
  found.error(diag::kUnknownOp, {1, 2}, "e");
  found.error(diag::kUnknownOp, {1, 2}, "e");
  const auto list = check_expectations(file, sources, found).sorted();
  REQUIRE(list.size() == 1);
  CHECK(list[0].message == "1 further errors were not compared");
}

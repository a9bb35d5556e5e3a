#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "mir/codes/files.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/syntax.hpp"
#include "mir/diagnostic.hpp"
#include "support/terminal_text.hpp"

namespace diag = mir::diag;
using mir::DiagnosticFormat;
using mir::Diagnostics;
using mir::Severity;
using mir::SourceManager;
using mir::Span;
using mir::visible;
using mir::visible_lines;

namespace {

std::string human(const Diagnostics& diagnostics, const SourceManager& sources) {
  return mir::render(diagnostics, sources, {});
}

/// The human form of one error in one text.
std::string human(std::string text, Span at) {
  SourceManager sources;
  sources.add("f", std::move(text));
  Diagnostics diagnostics;
  diagnostics.error(diag::kUnexpectedToken, at, "m");
  return human(diagnostics, sources);
}

/// The excerpt and caret lines of human(text, at).
std::string excerpt(std::string text, Span at) {
  const std::string all = human(std::move(text), at);
  const auto begin = all.find('\n') + 1;
  return all.substr(begin, all.rfind("1 error") - begin);
}

}  // namespace

TEST_CASE("the summary counts the errors and warnings that are not shown together") {
  const SourceManager sources;
  const auto shown = [&](std::size_t errors, std::size_t warnings) {
    Diagnostics diagnostics(1);
    diagnostics.error(diag::kUnexpectedToken, {}, "one");
    if (errors != 0) diagnostics.skip(Severity::kError, diag::kUnexpectedToken, errors);
    if (warnings != 0) diagnostics.skip(Severity::kWarning, diag::kTrailingText, warnings);
    const std::string text = mir::render(diagnostics, sources, {});
    return text.substr(text.rfind("1 error"));
  };
  CHECK(shown(0, 0) == "1 error, 0 warnings\n");
  CHECK(shown(2, 0) == "1 error, 0 warnings (2 more not shown)\n");
  CHECK(shown(0, 3) == "1 error, 0 warnings (3 more not shown)\n");
  CHECK(shown(2, 3) == "1 error, 0 warnings (5 more not shown)\n");
}

TEST_CASE("an error and a warning are counted, and nothing is said of no diagnostics") {
  const SourceManager sources;
  Diagnostics diagnostics(0);
  CHECK(human(diagnostics, sources).empty());
  diagnostics.warning(diag::kTrailingText, {}, "one");
  CHECK(human(diagnostics, sources).ends_with("0 errors, 1 warning\n"));
  diagnostics.error(diag::kUnexpectedToken, {}, "two");
  CHECK(human(diagnostics, sources).ends_with("1 error, 1 warning\n"));
}

TEST_CASE("the constraint of a diagnostic is in the forms for programs") {
  SourceManager sources;
  sources.add("f", "ab\n");
  Diagnostics diagnostics;
  diagnostics.error(diag::kAttributeOutOfRange, {1, 2}, "m").constraint =
      "pad_c1: docs/ops/convolution.md#pad";
  const std::string text = mir::render(diagnostics, sources, {DiagnosticFormat::kJson, false});
  CHECK(nlohmann::json::parse(text).at("constraint") == "pad_c1: docs/ops/convolution.md#pad");
  mir::SarifLog log;
  log.add(diagnostics, sources);
  const auto document = nlohmann::json::parse(log.finish("t", "1"));
  CHECK(document["runs"][0]["results"][0]["properties"] ==
        nlohmann::json{{"constraint", "pad_c1: docs/ops/convolution.md#pad"}});
}

TEST_CASE("a diagnostic shows its place, line, range, notes and hint") {
  SourceManager sources;
  sources.add("a.mir", "first line\n  second here\n");
  Diagnostics diagnostics;
  auto& error = diagnostics.error(diag::kUnexpectedToken, {21, 25}, "found 'here'");
  error.note({1, 6}, "begun here").note({}, "no place");
  error.hint = "leave it out";
  CHECK(human(diagnostics, sources) ==
        "a.mir:2:10: error[MIR0201]: found 'here'\n"
        "    second here\n"
        "           ^~~~\n"
        "a.mir:1:1: note: begun here\n"
        "  first line\n"
        "  ^~~~~\n"
        "note: no place\n"
        "hint: leave it out\n"
        "1 error, 0 warnings\n");
}

TEST_CASE("a diagnostic without a place shows none") {
  Diagnostics diagnostics;
  diagnostics.error(diag::kFileNotReadable, {}, "cannot read 'x'");
  CHECK(human(diagnostics, SourceManager()) ==
        "error[MIR0001]: cannot read 'x'\n1 error, 0 warnings\n");
}

TEST_CASE("the closing line counts what is shown and what is not") {
  Diagnostics diagnostics(2);
  for (int i = 0; i < 5; ++i) {
    diagnostics.error(diag::kFileNotReadable, {}, std::to_string(i));
  }
  diagnostics.warning(diag::kFileNotReadable, {}, "w");
  const std::string text = human(diagnostics, SourceManager());
  CHECK(text.ends_with("\n2 errors, 1 warning (3 more not shown)\n"));
  CHECK(human(Diagnostics(), SourceManager()).empty());
}

TEST_CASE("the caret stays on its line") {
  CHECK(excerpt("ab\ncd\n", {2, 6}) == "  ab\n   ^\n");
  CHECK(excerpt("ab\r\ncd", {3, 5}) == "  ab\n    ^\n");
  CHECK(excerpt("ab", {3, 3}) == "  ab\n    ^\n");
  CHECK(excerpt("", {1, 1}) == "  \n  ^\n");
}

TEST_CASE("tabs are expanded and wide characters take two columns") {
  CHECK(excerpt("\tab", {2, 4}) == "      ab\n      ^~\n");
  CHECK(excerpt("\xE4\xB8\xAD x", {5, 6}) == "  \xE4\xB8\xAD x\n     ^\n");
  CHECK(excerpt("\xC3\xA4 x", {4, 5}) == "  \xC3\xA4 x\n    ^\n");
}

TEST_CASE("visible text has no controls, and visible lines keep line ends and tabs") {
  constexpr std::string_view kText = "a\tb\x1b[1m\xe2\x80\xae\xc2\x9b\xff\nc";
  CHECK(visible(kText) == "a    b\\x1b[1m\\u{202e}\\u{9b}\xef\xbf\xbd\\x0ac");
  CHECK(visible_lines(kText) == "a\tb\\x1b[1m\\u{202e}\\u{9b}\xef\xbf\xbd\nc");
  CHECK(visible_lines("\n\n") == "\n\n");
}

TEST_CASE("a hostile text cannot drive the terminal") {
  CHECK(excerpt("\x1b[2J\xff\xc2\x9b x", {9, 10}) ==
        "  \\x1b[2J\xEF\xBF\xBD\\u{9b} x\n                 ^\n");
  CHECK(excerpt("a\xE2\x80\xAE x", {1, 2}) == "  a\\u{202e} x\n  ^\n");
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(excerpt("\xed\xa0\x80 x", {5, 6}) == "  " + bad + bad + bad + " x\n      ^\n");
  CHECK(excerpt("\xe0\x82\x9b x", {5, 6}) == "  " + bad + bad + bad + " x\n      ^\n");
  SourceManager sources;
  sources.add("\x1b]0;f", "x");
  Diagnostics diagnostics;
  diagnostics.error(diag::kUnexpectedToken, {1, 2}, "found '\x1b\n'").hint = "\x07";
  for (const auto format :
       {DiagnosticFormat::kHuman, DiagnosticFormat::kLine, DiagnosticFormat::kJson}) {
    const std::string text = mir::render(diagnostics, sources, {format, false});
    CHECK(text != mir::test::Part{"\x1b"});
    CHECK(text != mir::test::Part{"\x07"});
  }
}

TEST_CASE("a long line is clipped around the range") {
  std::string line(1 << 20, 'x');
  line.replace(500'000, 3, "abc");
  CHECK(excerpt(line, {500'001, 500'004}) == "  …" + std::string(40, 'x') + "abc" +
                                                 std::string(57, 'x') + "…\n  " +
                                                 std::string(41, ' ') + "^~~\n");
  CHECK(excerpt(line, {1, 2}) == "  " + std::string(100, 'x') + "…\n  ^\n");
  CHECK(excerpt(line, {1 << 20, (1 << 20) + 1}) ==
        "  …" + std::string(100, 'x') + "\n  " + std::string(100, ' ') + "^\n");
}

TEST_CASE("a range longer than the window is underlined to its edge") {
  CHECK(excerpt(std::string(1000, 'x'), {501, 901}) == "  …" + std::string(100, 'x') + "…\n  " +
                                                           std::string(41, ' ') + "^" +
                                                           std::string(60, '~') + "\n");
}

TEST_CASE("a megabyte of combining marks is clipped too") {
  std::string line = "a";
  for (int i = 0; i < 500'000; ++i) line += "\xCC\x81";
  CHECK(human(line, {1, 2}).size() < 2000);
  CHECK(human(line, {500'001, 500'002}).size() < 2000);
}

TEST_CASE("the line form has one line for each diagnostic") {
  SourceManager sources;
  sources.add("f", "abc");
  Diagnostics diagnostics;
  diagnostics.error(diag::kUnexpectedToken, {2, 3}, "e").note({1, 2}, "n");
  diagnostics.warning(diag::kTrailingText, {3, 4}, "w\nx").hint = "h";
  CHECK(mir::render(diagnostics, sources, {DiagnosticFormat::kLine, false}) ==
        "f:1:2: error[MIR0201]: e\nf:1:3: warning[MIR0205]: w\\x0ax\n");
}

TEST_CASE("colour appears only when asked for and changes nothing else") {
  SourceManager sources;
  sources.add("f", "abc");
  Diagnostics diagnostics;
  diagnostics.error(diag::kUnexpectedToken, {2, 3}, "e").note({1, 2}, "n");
  std::string coloured = mir::render(diagnostics, sources, {DiagnosticFormat::kHuman, true});
  const std::string plain = human(diagnostics, sources);
  CHECK(plain != mir::test::Part{"\x1b"});
  CHECK(coloured.find("\x1b[1;31merror[MIR0201]:\x1b[0m") != std::string::npos);
  for (std::size_t at; (at = coloured.find('\x1b')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) + 1 - at);
  }
  CHECK(coloured == plain);
}

TEST_CASE("the JSON form is one object a line with every key of schema 2") {
  SourceManager sources;
  sources.add("f", "ab\ncd");
  Diagnostics diagnostics;
  auto& error = diagnostics.error(diag::kUnexpectedToken, {2, 5}, "\xC3\xA4 \xff\"byte\"");
  error.note({1, 2}, "n").fix({2, 2}, ":");
  diagnostics.warning(diag::kFileNotReadable, {}, "w");
  const std::string text = mir::render(diagnostics, sources, {DiagnosticFormat::kJson, false});
  const auto newline = text.find('\n');
  const auto warning = nlohmann::json::parse(text.substr(0, newline));
  const auto first = nlohmann::json::parse(text.substr(newline + 1));
  CHECK(text.starts_with(R"({"schema":2,"file":null,"line":null,"column":null,"end_line":null,)"
                         R"("end_column":null,"severity":"warning","code":"MIR0001",)"
                         R"("message":"w","notes":[],"hint":null,"fixes":[]})"));
  CHECK(warning.size() == first.size());
  CHECK(first["file"] == "f");
  CHECK(first["column"] == 2);
  CHECK(first["end_line"] == 2);
  CHECK(first["end_column"] == 2);
  CHECK(first["message"] == "\xC3\xA4 \xEF\xBF\xBD\"byte\"");
  CHECK(std::ranges::all_of(text, [](char byte) { return byte > 0 && byte < 0x7F; }));
  CHECK(first["notes"][0]["message"] == "n");
  CHECK(first["notes"][0]["end_column"] == 2);
  CHECK(first["fixes"][0]["replacement"] == ":");
}

TEST_CASE("the human form shows what a fix replaces, inserts and removes") {
  SourceManager sources;
  sources.add("f", "abc\n");
  Diagnostics diagnostics;
  auto& error = diagnostics.error(diag::kUnexpectedToken, {1, 2}, "m");
  error.fix({1, 2}, "x").fix({2, 2}, "y").fix({3, 4}, "");
  CHECK(human(diagnostics, sources) ==
        "f:1:1: error[MIR0201]: m\n"
        "  abc\n"
        "  ^\n"
        "f:1:1: fix: replace 'a' by 'x'\n"
        "f:1:2: fix: insert 'y'\n"
        "f:1:3: fix: remove 'c'\n"
        "1 error, 0 warnings\n");
}

TEST_CASE("every form cuts long messages between code points") {
  SourceManager sources;
  Diagnostics diagnostics;
  std::string message = "m";
  for (int i = 0; i < 5000; ++i) message += "\xC3\xA4";
  diagnostics.error(diag::kUnexpectedToken, {}, message).note({}, message).hint = message;
  for (const auto format : {DiagnosticFormat::kHuman, DiagnosticFormat::kLine,
                            DiagnosticFormat::kGithub, DiagnosticFormat::kJson}) {
    const std::string text = mir::render(diagnostics, sources, {format, false});
    CHECK(text.size() < 20000);
    CHECK(text == mir::test::Part{"..."});
    CHECK(text != mir::test::Part{"\xEF\xBF\xBD"});
  }
}

TEST_CASE("the GitHub form escapes what would end a command or a property") {
  SourceManager sources;
  sources.add("a,b:c%.mir", "abc\n");
  Diagnostics diagnostics;
  diagnostics.error(diag::kUnexpectedToken, {2, 3}, "50%: a, b\n\x1b[1m")
      .note({1, 2}, "here")
      .hint = "h";
  diagnostics.warning(diag::kFileNotReadable, {}, "w");
  diagnostics.remark(diag::kFileNotReadable, {}, "r");
  CHECK(mir::render(diagnostics, sources, {DiagnosticFormat::kGithub, false}) ==
        "::warning title=MIR0001::w\n"
        "::notice title=MIR0001::r\n"
        "::error file=a%2Cb%3Ac%25.mir,line=1,col=2,title=MIR0201::50%25: a, b\\x0a\\x1b[1m"
        "%0Anote: line 1: here%0Ahint: h\n");
}

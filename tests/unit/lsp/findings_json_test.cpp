#include "lsp/findings_json.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "mir/codes/syntax.hpp"

using namespace mir;
using namespace mir::lsp;
using Json = nlohmann::json;

TEST_SUITE("findings as JSON") {
  const DialectTexts kBuiltIn;

  Json written(const Diagnostic& finding, bool related_information) {
    const Document document("file:///a%22b.mir", 1, "one\n\xc3\xa9 two\n", PositionEncoding::kUtf16,
                            kBuiltIn);
    std::string json;
    append_finding(json, document, finding, related_information);
    return Json::parse(json);
  }

  TEST_CASE("texts keep quotes, line ends and characters, and lose bytes that are none") {
    const std::string texts[] = {"plain",        "a \"quoted\" word", "back\\slash",
                                 "two\nlines\t", "\x01\x7f",          "\xc3\xa9 \xf0\x9f\x98\x80"};
    for (const std::string& text : texts) {
      CAPTURE(text);
      Diagnostic finding;
      finding.message = text;
      CHECK(written(finding, true)["message"] == text);
      finding.message = "message";
      finding.hint = finding.constraint = text;
      CHECK(written(finding, true)["message"] ==
            "message\nhint: " + text + "\nconstraint: " + text);
    }
    Diagnostic finding;
    finding.message = "a\xff";
    CHECK(written(finding, true)["message"] == "a\xef\xbf\xbd");
  }

  TEST_CASE("places are those of the document, and notes have their own") {
    Diagnostic finding;
    finding.severity = Severity::kWarning;
    finding.code = diag::kUnexpectedToken;
    finding.at = {8, 11};  // `two`, after a character of two bytes
    finding.message = "wrong";
    finding.note({1, 4}, "here");
    finding.note({}, "anywhere");
    finding.note({5, 7}, "there");
    const auto place = [](int line, int begin, int end) {
      return Json{{"start", {{"line", line}, {"character", begin}}},
                  {"end", {{"line", line}, {"character", end}}}};
    };
    const auto related = [&](const Json& range, const char* message) {
      return Json{{"location", {{"uri", "file:///a%22b.mir"}, {"range", range}}},
                  {"message", message}};
    };
    Json expected = {{"range", place(1, 2, 5)},
                     {"severity", 2},
                     {"code", spelling(diag::kUnexpectedToken)},
                     {"source", "mllm"},
                     {"message", "wrong\nnote: anywhere"}};
    expected["relatedInformation"] =
        Json::array({related(place(0, 0, 3), "here"), related(place(1, 0, 1), "there")});
    CHECK(written(finding, true) == expected);
    expected.erase("relatedInformation");
    expected["message"] = "wrong\nnote: here\nnote: anywhere\nnote: there";
    CHECK(written(finding, false) == expected);
  }

  TEST_CASE("a finding without a place is at the beginning of the text") {
    Diagnostic finding;
    finding.message = "wrong";
    const Json start = {{"line", 0}, {"character", 0}};
    CHECK(written(finding, true)["range"] == Json{{"start", start}, {"end", start}});
  }
}

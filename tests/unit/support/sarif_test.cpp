// SARIF documents against what the schema of SARIF 2.1.0 requires of the objects that occur.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "mir/support/diagnostic_render.hpp"

using namespace mir;
using Json = nlohmann::json;

namespace {

bool is_text(const Json& object) {
  return object.is_object() && object.value("text", Json()).is_string();
}

/// A region counts lines and columns from 1 and ends where or behind where it begins.
void check_region(const Json& region) {
  REQUIRE(region.is_object());
  const int line = region.at("startLine"), end_line = region.at("endLine");
  const int column = region.at("startColumn"), end_column = region.at("endColumn");
  CHECK(line >= 1);
  CHECK(column >= 1);
  CHECK((end_line > line || (end_line == line && end_column >= column)));
}

/// A URI reference is ASCII without the characters that RFC 3986 forbids.
void check_artifact(const Json& artifact) {
  const std::string uri = artifact.at("uri");
  CHECK_FALSE(uri.empty());
  for (const char byte : uri) CHECK((byte > ' ' && byte < 0x7F && byte != '<' && byte != '"'));
}

void check_location(const Json& location) {
  if (!location.contains("physicalLocation")) return;
  check_artifact(location["physicalLocation"].at("artifactLocation"));
  check_region(location["physicalLocation"].at("region"));
}

/// artifactChanges, artifactLocation, replacements and deletedRegion are required, and lists of
/// changes and replacements have one item at least.
void check_fix(const Json& fix) {
  REQUIRE_FALSE(fix.at("artifactChanges").empty());
  for (const Json& change : fix["artifactChanges"]) {
    check_artifact(change.at("artifactLocation"));
    REQUIRE_FALSE(change.at("replacements").empty());
    for (const Json& replacement : change["replacements"]) {
      check_region(replacement.at("deletedRegion"));
      CHECK(is_text(replacement.at("insertedContent")));
    }
  }
  if (fix.contains("description")) CHECK(is_text(fix["description"]));
}

void check_result(const Json& result) {
  CHECK(is_text(result.at("message")));
  const std::string level = result.at("level");
  CHECK((level == "error" || level == "warning" || level == "note"));
  CHECK(result.at("ruleId").is_string());
  for (const Json& location : result.value("locations", Json::array())) check_location(location);
  for (const Json& location : result.value("relatedLocations", Json::array())) {
    check_location(location);
    CHECK(is_text(location.at("message")));
  }
  for (const Json& fix : result.value("fixes", Json::array())) check_fix(fix);
}

Json checked(const SarifLog& log) {
  const Json document = Json::parse(log.finish("mllm-parse", "1.2.3"));
  CHECK(document.at("version") == "2.1.0");
  CHECK(document.at("$schema") == "https://json.schemastore.org/sarif-2.1.0.json");
  REQUIRE(document.at("runs").size() == 1);
  const Json& run = document["runs"][0];
  CHECK(run.at("tool").at("driver").at("name") == "mllm-parse");
  CHECK(run.at("columnKind") == "unicodeCodePoints");
  for (const Json& rule : run["tool"]["driver"].at("rules")) {
    CHECK(rule.at("id").is_string());
    for (const char* key : {"shortDescription", "fullDescription", "help"}) {
      if (rule.contains(key)) CHECK(is_text(rule[key]));
    }
  }
  REQUIRE(run.at("results").is_array());
  for (const Json& result : run["results"]) check_result(result);
  return run;
}

}  // namespace

TEST_CASE("a SARIF document without diagnostics has an empty list of results") {
  CHECK(checked(SarifLog()).at("results").empty());
}

TEST_CASE("a SARIF document has places, notes and fixes of every text of a run") {
  SarifLog log;
  {
    SourceManager sources;
    sources.add("/models/a b<1>.mir", "abc\ndef\n");
    Diagnostics diagnostics;
    diagnostics.error(DiagCode::kUnknownAttribute, {5, 8}, "m \xFF")
        .note({1, 2}, "here")
        .note({}, "nowhere")
        .fix({5, 8}, "x")
        .fix({8, 8}, "\n")
        .hint = "did you mean 'x'?";
    log.add(diagnostics, sources);
  }
  SourceManager sources;
  sources.add("b.mir", "abc\n");
  Diagnostics diagnostics;
  diagnostics.warning(DiagCode::kFileNotReadable, {}, "w");
  diagnostics.remark(DiagCode::kUnknownAttribute, {1, 3}, "r");
  log.add(diagnostics, sources);

  const Json run = checked(log);
  REQUIRE(run["results"].size() == 3);
  const Json& error = run["results"][0];
  CHECK(error["ruleId"] == "MIR0408");
  CHECK(error["level"] == "error");
  const Json& place = error["locations"][0]["physicalLocation"];
  CHECK(place["artifactLocation"]["uri"] == "file:///models/a%20b%3C1%3E.mir");
  CHECK(place["region"] ==
        Json{{"startLine", 2}, {"startColumn", 1}, {"endLine", 2}, {"endColumn", 4}});
  CHECK(error["relatedLocations"].size() == 2);
  CHECK(error["fixes"][0]["description"]["text"] == "did you mean 'x'?");
  CHECK(error["fixes"][0]["artifactChanges"][0]["replacements"].size() == 2);
  CHECK_FALSE(run["results"][1].contains("locations"));
  CHECK(run["results"][2]["level"] == "note");
  const Json& rules = run["tool"]["driver"]["rules"];
  REQUIRE(rules.size() == 2);
  CHECK(rules[1]["id"] == "MIR0408");
  CHECK(rules[1]["fullDescription"]["text"].get<std::string>().starts_with("Each operation"));
}

// SARIF documents against the schema of SARIF 2.1.0.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "mir/codes/files.hpp"
#include "mir/codes/verification.hpp"
#include "mir/diagnostic.hpp"
#include "sarif_objects.hpp"

using namespace mir;
using Json = nlohmann::json;

namespace {

Json checked(const SarifLog& log) {
  const Json document = Json::parse(log.finish("mllm-parse", "1.2.3"));
  for (const std::string& problem : test::sarif::Walk::problems(document)) FAIL_CHECK(problem);
  CHECK(document.at("$schema") == "https://json.schemastore.org/sarif-2.1.0.json");
  REQUIRE(document.at("runs").size() == 1);
  const Json& run = document["runs"][0];
  CHECK(run.at("tool").at("driver").at("name") == "mllm-parse");
  CHECK(run.at("columnKind") == "unicodeCodePoints");
  REQUIRE(run.contains("results"));
  for (const Json& result : run["results"]) CHECK(result.contains("ruleId"));
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
    diagnostics.error(diag::kUnknownAttribute, {5, 8}, "m \xFF")
        .note({1, 2}, "here")
        .note({}, "nowhere")
        .note({1, 2}, "here")
        .fix({5, 8}, "x")
        .fix({8, 8}, "\n")
        .hint = "did you mean 'x'?";
    log.add(diagnostics, sources);
  }
  SourceManager sources;
  sources.add("b.mir", "abc\n");
  Diagnostics diagnostics;
  diagnostics.warning(diag::kFileNotReadable, {}, "w");
  diagnostics.remark(diag::kUnknownAttribute, {1, 3}, "r");
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
  CHECK(rules[1]["fullDescription"]["text"].get<std::string>().starts_with(
      "The operation does not have this attribute"));
}

TEST_CASE("the walk over SARIF documents finds what the schema forbids") {
  const Json good = Json::parse(R"({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}},
      "results": [{"message": {"text": "m"}, "level": "error",
                   "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a%20b"},
                                  "region": {"startLine": 1, "startColumn": 2, "endLine": 1,
                                             "endColumn": 2}}}],
                   "fixes": [{"artifactChanges": [{"artifactLocation": {"uri": "a"},
                              "replacements": [{"deletedRegion": {"startLine": 1}}]}]}]}]}]})");
  CHECK(test::sarif::Walk::problems(good).empty());
  const auto broken = [&](const char* path, const Json& value) {
    Json document = good;
    const Json::json_pointer at(path);
    if (value.is_discarded()) {
      document[at.parent_pointer()].erase(at.back());
    } else {
      document[at] = value;
    }
    return test::sarif::Walk::problems(document).size() == 1;
  };
  const Json gone(Json::value_t::discarded);
  CHECK(broken("/version", gone));
  CHECK(broken("/version", "2.2"));
  CHECK(broken("/runs", gone));
  CHECK(broken("/runs/0/tool", gone));
  CHECK(broken("/runs/0/tool/driver/name", gone));
  CHECK(broken("/runs/0/tool/driver/name", 1));
  CHECK(broken("/runs/0/extra", 1));
  CHECK(broken("/runs/0/results/0/message", gone));
  CHECK(broken("/runs/0/results/0/message/text", gone));
  CHECK(broken("/runs/0/results/0/level", "remark"));
  CHECK(broken("/runs/0/results/0/relatedLocations",
               Json::parse(R"([{"message": {"text": "a"}}, {"message": {"text": "a"}}])")));
  const std::string place = "/runs/0/results/0/locations/0/physicalLocation";
  CHECK(broken((place + "/artifactLocation").c_str(), gone));
  CHECK(broken((place + "/artifactLocation/uri").c_str(), "a b"));
  CHECK(broken((place + "/artifactLocation/uri").c_str(), "a%2"));
  CHECK(broken((place + "/region/startLine").c_str(), 0));
  CHECK(broken((place + "/region/endColumn").c_str(), 1));
  CHECK(broken("/runs/0/results/0/fixes/0/artifactChanges", Json::array()));
  CHECK(broken("/runs/0/results/0/fixes/0/artifactChanges/0/replacements", gone));
}

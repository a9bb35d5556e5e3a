// What clients ask for while a text is typed: tokens that changed, pulled findings, layout,
// progress.
#include <doctest/doctest.h>

#include "client.hpp"

using namespace mir;
using mir::test::edited;
using mir::test::Json;
using mir::test::kUri;
using mir::test::LspClient;

namespace typing_test {

namespace {

const std::string kText =
    "@main [mir_version:1] (%x:tensor<[2, 4], Float32, CPU>) -> (%y:tensor<[2, 4], Float32, CPU>) "
    "{\n"
    "    linalg.CPU.ReLUOp(%x) -> (%m)\n"
    "    linalg.CPU.SiLUOp(%m) -> (%y)\n"
    "    cf.ReturnOp (%y) -> ()\n"
    "}\n";

Json insertion(int line, int column, const std::string& text) {
  const Json at = {{"line", line}, {"character", column}};
  return Json::array({{{"range", {{"start", at}, {"end", at}}}, {"text", text}}});
}

/// The array after the splices of an answer.
Json spliced(Json data, const Json& edits) {
  for (const Json& edit : edits) {
    const auto begin = data.begin() + edit["start"].get<std::ptrdiff_t>();
    data.erase(begin, begin + edit["deleteCount"].get<std::ptrdiff_t>());
    const Json& more = edit["data"];
    data.insert(data.begin() + edit["start"].get<std::ptrdiff_t>(), more.begin(), more.end());
  }
  return data;
}

Json on_type(LspClient& client, int line, int column, const std::string& typed) {
  return client.at("onTypeFormatting", line, column,
                   {{"ch", typed}, {"options", {{"tabSize", 4}, {"insertSpaces", true}}}});
}

}  // namespace

TEST_SUITE("lsp: typing") {
  const Json kAsksForEdits = {
      {"textDocument", {{"semanticTokens", {{"requests", {{"full", {{"delta", true}}}}}}}}}};

  TEST_CASE("token deltas make the new tokens of the old ones") {
    LspClient client(kAsksForEdits);
    client.open(kText);
    Json full = client.of("semanticTokens/full");
    Json data = full["data"];
    Json id = full["resultId"];
    const std::vector<Json> edits = {insertion(1, 0, "// a comment\n"), insertion(3, 22, "%x, "),
                                     insertion(0, 0, "\n"),
                                     insertion(5, 0, "linalg.CPU.AddOp(%m, %x) -> (%z)\n")};
    for (const Json& edit : edits) {
      client.change(edit);
      const Json delta = client.of("semanticTokens/full/delta", {{"previousResultId", id}});
      REQUIRE(delta.contains("edits"));
      CHECK(delta["edits"].size() == 1);
      data = spliced(data, delta["edits"]);
      id = delta["resultId"];
    }
    LspClient fresh;
    fresh.open(kText);
    for (const Json& edit : edits) fresh.change(edit);
    CHECK(data == fresh.of("semanticTokens/full")["data"]);
    CHECK(client.of("semanticTokens/full/delta", {{"previousResultId", id}})["edits"].empty());
  }

  TEST_CASE("tokens of an unknown answer come in full") {
    LspClient client(kAsksForEdits);
    client.open(kText);
    client.of("semanticTokens/full");
    const Json answer = client.of("semanticTokens/full/delta", {{"previousResultId", "none"}});
    CHECK(answer.contains("data"));
  }

  TEST_CASE("a client that pulls findings gets them once, and none unasked") {
    LspClient client(Json{{"textDocument", {{"diagnostic", Json::object()}}}});
    CHECK(client.features.contains("diagnosticProvider"));
    std::string text = kText;
    text.replace(text.find("SiLUOp(%m)"), 10, "SiLUOp(%q)");
    client.open(text);
    CHECK(client.diagnostics() == nullptr);
    const Json first = client.of("diagnostic");
    CHECK(first["kind"] == "full");
    REQUIRE(first["items"].size() == 1);
    CHECK(first["items"][0]["code"] == "MIR0302");
    const Json again = client.of("diagnostic", {{"previousResultId", first["resultId"]}});
    CHECK(again == Json{{"kind", "unchanged"}, {"resultId", first["resultId"]}});
    client.change(insertion(0, 0, "// new\n"));
    const Json changed = client.of("diagnostic", {{"previousResultId", first["resultId"]}});
    CHECK(changed["kind"] == "full");
    CHECK(changed["items"][0]["range"]["start"]["line"] == 3);
    CHECK_FALSE(LspClient().features.contains("diagnosticProvider"));
  }

  TEST_CASE("a new line formats the one before and is indented") {
    LspClient client;
    std::string text = kText;
    text.insert(text.find("linalg.CPU.SiLUOp"), "  ");
    text.insert(text.find("    cf.ReturnOp"), "\n");
    client.open(text);
    const Json edits = on_type(client, 3, 0, "\n");
    std::string wanted = kText;
    wanted.insert(wanted.find("    cf.ReturnOp"), "    \n");
    CHECK(edited(text, edits) == wanted);
  }

  TEST_CASE("a closing brace goes where it belongs") {
    LspClient client;
    std::string text = kText;
    text.insert(text.rfind('}'), "   ");
    client.open(text);
    CHECK(edited(text, on_type(client, 4, 4, "}")) == kText);
  }

  TEST_CASE("typing in text with errors moves nothing") {
    LspClient client;
    std::string text = kText;
    text.replace(text.find("SiLUOp(%m)"), 10, "SiLUOp(%m");
    client.open(text);
    CHECK(on_type(client, 2, 10, "}") == Json::array());
  }

  TEST_CASE("a request with a token has its progress reported, an end after errors too") {
    LspClient client;
    client.open(kText);
    const auto kinds = [&] {
      std::vector<std::string> list;
      for (const Json& each : client.sent) {
        if (each.value("method", "") != "$/progress") continue;
        CHECK(each["params"]["token"] == "t");
        list.push_back(each["params"]["value"]["kind"]);
      }
      return list;
    };
    client.of("formatting", {{"workDoneToken", "t"}, {"options", Json::object()}});
    CHECK(kinds() == std::vector<std::string>{"begin", "end"});
    client.of("formatting/none", {{"workDoneToken", "t"}});
    CHECK(kinds() == std::vector<std::string>{"begin", "end", "begin", "end"});
  }
}

}  // namespace typing_test

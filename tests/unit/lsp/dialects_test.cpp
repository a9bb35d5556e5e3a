// Dialects that documents use and do not declare.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "client.hpp"

using namespace mir;
using mir::test::Json;
using mir::test::LspClient;

namespace lsp_dialects_test {

namespace {

std::string declaration(const std::string& op) {
  return "@mine [mir_version:2] () -> () {\n"
         "    dialect.OpOp @" +
         op +
         " [summary:\"Doubles.\"] {\n"
         "        (%x:tensor<[$B.., $K], T, D>) -> (%y:tensor<[$B.., $K], T, D>) {\n"
         "            linalg.D.AddOp(%x, %x) -> (%y)\n"
         "            cf.ReturnOp (%y) -> ()\n"
         "        }\n"
         "    }\n"
         "}\n";
}

const std::string kUser =
    "@main [mir_version:2] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {\n"
    "    mine.DoubleOp (%x) -> (%y)\n"
    "    cf.ReturnOp (%y) -> ()\n"
    "}\n";

class Folder {
 public:
  Folder() { std::filesystem::create_directories(path / "inner"); }
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
  }
  std::string uri() const { return "file://" + path.string(); }

  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("mir lsp dialects " + std::to_string(::getpid()));
};

}  // namespace

TEST_SUITE("lsp: dialects") {
  TEST_CASE("paths of URIs") {
    CHECK(lsp::path_of_uri("file:///a%20b/%C3%A9.mir") == "/a b/é.mir");
    CHECK(lsp::path_of_uri("file://host/a%2") == "/a%2");
    CHECK_FALSE(lsp::path_of_uri("untitled:a").has_value());
  }

  TEST_CASE("a dialect of a file below a folder is known, and changes with the file") {
    const Folder folder;
    folder.write("inner/mine.mir", declaration("DoubleOp"));
    folder.write("broken.mir", "@x [mir_version:2] () -> () { dialect.OpOp");
    folder.write("model.mir", kUser);
    LspClient client(Json::object(), false);
    client.request("initialize", {{"processId", nullptr},
                                  {"capabilities", Json::object()},
                                  {"rootUri", nullptr},
                                  {"workspaceFolders", {{{"uri", folder.uri()}, {"name", "a"}}}}});
    client.notify("initialized", Json::object());
    client.open(kUser);
    CHECK(client.diagnostics() == Json::array());
    const std::string hover = client.at("hover", 1, 10)["contents"]["value"];
    CHECK(hover.find("Doubles.") != hover.npos);

    folder.write("inner/mine.mir", declaration("TripleOp"));
    client.notify("workspace/didChangeWatchedFiles", {{"changes", Json::array()}});
    REQUIRE(client.diagnostics().size() >= 1);

    client.notify("workspace/didChangeWorkspaceFolders",
                  {{"event", {{"added", Json::array()}, {"removed", {{{"uri", folder.uri()}}}}}}});
    folder.write("inner/mine.mir", declaration("DoubleOp"));
    client.notify("workspace/didChangeWorkspaceFolders",
                  {{"event", {{"removed", Json::array()}, {"added", {{{"uri", folder.uri()}}}}}}});
    CHECK(client.diagnostics() == Json::array());
  }

  TEST_CASE("ops in the bodies of declared ops are completed with their condition and count") {
    const auto text_with = [](const std::string& attributes) {
      return "@mine [mir_version:2] () -> () {\n"
             "    dialect.OpOp @TowerOp [attributes:{layers:{type:int, default:3}}] {\n"
             "        (%x:tensor<[$n, $k], T, D>) -> (%y:tensor<[$n, $k], T, D>) {\n"
             "            linalg.D.ReLUOp [" +
             attributes +
             "] (%x) -> (%y)\n"
             "            cf.ReturnOp (%y) -> ()\n        }\n    }\n}\n";
    };
    constexpr int kOp = 3, kDeclaration = 1, kAttributes = 29;
    LspClient client;
    client.open(text_with(""));
    const auto labels_at = [&](int line, int column) {
      const Json list = client.at("completion", line, column);
      std::set<std::string> labels;
      for (const Json& each : list["items"]) {
        labels.insert(each["label"].get<std::string>());
      }
      return labels;
    };
    const auto replace_all = [&](const std::string& attributes) {
      client.change(Json::array({{{"text", text_with(attributes)}}}));
    };
    CHECK(labels_at(kOp, kAttributes).contains("repeat"));
    CHECK(labels_at(kOp, kAttributes).contains("only_if"));
    CHECK_FALSE(labels_at(kDeclaration, 27).contains("only_if"));
    replace_all("only_if:");
    CHECK(labels_at(kOp, kAttributes + 8).contains("$layers"));
    replace_all("repeat:");
    CHECK(labels_at(kOp, kAttributes + 7).contains("{i:$layers}"));
    replace_all("repeat:{i:$layers}, ");
    CHECK_FALSE(labels_at(kOp, kAttributes + 20).contains("repeat"));
    const std::string hover = client.at("hover", kOp, kAttributes + 1)["contents"]["value"];
    CHECK(hover.find("the op so many times") != hover.npos);
  }

  TEST_CASE("dialects are looked for in the folders of the workspace, or else below its root") {
    const Folder folder;
    folder.write("mine.mir", declaration("DoubleOp"));
    const Json inside = {{"uri", folder.uri()}, {"name", "a"}},
               outside = {{"uri", folder.uri() + "/inner"}, {"name", "b"}},
               odd = {{"uri", 7}, {"name", "c"}};
    const auto knows = [&](const Json& root, const Json& folders) {
      LspClient client(Json::object(), false);
      client.request("initialize", {{"processId", nullptr},
                                    {"capabilities", Json::object()},
                                    {"rootUri", root},
                                    {"workspaceFolders", folders}});
      client.notify("initialized", Json::object());
      client.open(kUser);
      return client.diagnostics() == Json::array();
    };
    CHECK(knows(nullptr, Json::array({inside})));
    CHECK(knows(nullptr, Json::array({outside, inside})));
    CHECK(knows(nullptr, Json::array({inside, outside})));
    CHECK(knows(nullptr, Json::array({odd, inside})));
    CHECK(knows(folder.uri(), nullptr));
    CHECK(knows(folder.uri(), Json::array()));
    CHECK_FALSE(knows(folder.uri(), Json::array({outside})));
    CHECK_FALSE(knows(7, Json::array({odd})));
    CHECK_FALSE(knows(nullptr, nullptr));
  }

  TEST_CASE(
      "the definition of an op can be in the file of its dialect, which rename leaves alone") {
    const std::string text =
        "@main [mir_version:2] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {\n"
        "    twin.TwiceOp (%x) -> (%y)\n    cf.ReturnOp (%y) -> ()\n}\n";
    const std::string dialect =
        "@twin [mir_version:2] () -> () {\n    dialect.OpOp @TwiceOp {\n"
        "        (%x:tensor<[$n..], T, D>) -> (%y:tensor<[$n..], T, D>) {\n        }\n    }\n}\n";
    std::vector<Json> sent;
    lsp::CancelledRequests cancelled;
    lsp::Server server([&](std::string_view body) { sent.push_back(Json::parse(body)); }, "1",
                       cancelled, {{"/a folder/twin.mir", dialect}});
    const auto send = [&](const char* method, const Json& params) {
      server.receive(
          Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}}.dump());
      return sent.back();
    };
    send("initialize", {{"processId", nullptr}, {"capabilities", Json::object()}});
    server.receive(Json{
        {"jsonrpc", "2.0"},
        {"method", "textDocument/didOpen"},
        {"params", {{"textDocument", {{"uri", "untitled:a"}, {"version", 1}, {"text", text}}}}}}
                       .dump());
    const Json at = {{"textDocument", {{"uri", "untitled:a"}}},
                     {"position", {{"line", 1}, {"character", 12}}},
                     {"newName", "OtherOp"}};
    const Json found = send("textDocument/definition", at)["result"];
    REQUIRE(found.size() == 1);
    CHECK(found[0]["uri"].get<std::string>() == "file:///a%20folder/twin.mir");
    CHECK(found[0]["range"]["start"]["line"].get<int>() == 1);
    CHECK(send("textDocument/rename", at).contains("error"));
  }

  TEST_CASE("the file of a dialect is checked by itself when it is open") {
    const Folder folder;
    folder.write("mine.mir", declaration("DoubleOp"));
    LspClient client(Json::object(), false);
    client.request(
        "initialize",
        {{"processId", nullptr}, {"capabilities", Json::object()}, {"rootUri", folder.uri()}});
    client.notify("initialized", Json::object());
    const Json document = {{"uri", folder.uri() + "/mine.mir"},
                           {"languageId", "mir"},
                           {"version", 1},
                           {"text", declaration("QuadrupleOp")}};
    client.notify("textDocument/didOpen", {{"textDocument", document}});
    CHECK(client.diagnostics() == Json::array());
  }

  TEST_CASE("patterns use the ops of dialects of a folder, and may be in the file of the dialect") {
    const std::string patterns =
        "@doubles [mir_version:2] () -> () {\n"
        "    pattern.RewriteOp @twice [match:\"Neg(mine.DoubleOp(%x))\", "
        "rewrite:\"mine.DoubleOp(Neg(%x))\", claim:value]\n}\n";
    const Folder folder;
    folder.write("mine.mir", declaration("DoubleOp") + patterns);
    LspClient client(Json::object(), false);
    client.request(
        "initialize",
        {{"processId", nullptr}, {"capabilities", Json::object()}, {"rootUri", folder.uri()}});
    client.notify("initialized", Json::object());
    client.open(kUser);
    CHECK(client.diagnostics() == Json::array());
    const Json document = {
        {"uri", "untitled:rules"}, {"languageId", "mir"}, {"version", 1}, {"text", patterns}};
    client.notify("textDocument/didOpen", {{"textDocument", document}});
    CHECK(client.diagnostics() == Json::array());
  }

  TEST_CASE("clients that can watch files are asked to") {
    const LspClient watching(
        Json{{"workspace", {{"didChangeWatchedFiles", {{"dynamicRegistration", true}}}}}});
    REQUIRE(watching.sent.size() == 2);
    CHECK(watching.sent[1]["method"] == "client/registerCapability");
    CHECK(LspClient().sent.size() == 1);
  }
}

}  // namespace lsp_dialects_test

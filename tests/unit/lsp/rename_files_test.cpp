// Renames that change several documents and files.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "client.hpp"

using namespace mir;
using mir::test::edited;
using mir::test::Json;
using mir::test::LspClient;

namespace rename_files_test {

namespace {

const std::string kDialect =
    "@mine [mir_version:2] () -> () {\n"
    "    dialect.TypeOp @tile [parameters:{rows:int}] () -> ()\n"
    "    dialect.OpOp @ScaleOp [attributes:{factor:{type:int, required:true}}] {\n"
    "        (%x:tensor<[$n..], T, D>) -> (%y:tensor<[$n..], T, D>) {\n"
    "        }\n"
    "    }\n"
    "    dialect.OpOp @OtherOp {\n"
    "        (%x:tensor<[$n..], T, D>) -> (%y:tensor<[$n..], T, D>) {\n"
    "        }\n"
    "    }\n"
    "}\n";

const std::string kUser =
    "@main [mir_version:2] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {\n"
    "    mine.ScaleOp (%x) -> (%m) [factor:2]\n"
    "    mine.ScaleOp (%m) -> (%y) [factor:3]\n"
    "    cf.ReturnOp (%y) -> ()\n"
    "}\n";

const std::string kPattern =
    "@rules [mir_version:2] () -> () {\n"
    "    pattern.RewriteOp @twice [match:\"Neg(mine.ScaleOp(%x))\", "
    "rewrite:\"mine.ScaleOp(Neg(%x))\", claim:value]\n}\n";

class DialectFolder {
 public:
  DialectFolder() {
    std::filesystem::create_directories(path / "inner");
    write("mine.mir", kDialect);
    write("inner/user.mir", kUser);
    write("rules.mir", kPattern);
    write("unrelated.mir", "@main () -> () {\n}\n");
  }
  ~DialectFolder() { std::filesystem::remove_all(path); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
  }
  std::string uri(const std::string& name = "") const {
    return "file://" + path.string() + (name.empty() ? "" : "/" + name);
  }

  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("mir_lsp_rename_" + std::to_string(::getpid()));
};

/// A client with documents open in a folder.
class FolderClient {
 public:
  explicit FolderClient(const DialectFolder& folder, bool document_changes = true)
      : client_(Json::object(), false) {
    const Json edits = {{"documentChanges", document_changes}};
    client_.request("initialize", {{"processId", nullptr},
                                   {"capabilities", {{"workspace", {{"workspaceEdit", edits}}}}},
                                   {"rootUri", folder.uri()}});
    client_.notify("initialized", Json::object());
  }

  void open(const std::string& uri, const std::string& text, int version = 7) {
    client_.notify("textDocument/didOpen",
                   {{"textDocument",
                     {{"uri", uri}, {"languageId", "mir"}, {"version", version}, {"text", text}}}});
  }
  Json ask(const char* method, const std::string& uri, int line, int column,
           const std::string& name = "") {
    return client_.request(std::string("textDocument/") + method,
                           {{"textDocument", {{"uri", uri}}},
                            {"position", {{"line", line}, {"character", column}}},
                            {"newName", name}});
  }

 private:
  LspClient client_;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The texts after the edits of an answer, and the versions that it states, by URI.
std::map<std::string, std::pair<std::string, Json>> results(
    const Json& answer, const std::map<std::string, std::string>& texts) {
  REQUIRE_MESSAGE(answer.contains("documentChanges"), answer.dump());
  std::map<std::string, std::pair<std::string, Json>> all;
  for (const Json& each : answer["documentChanges"]) {
    const std::string uri = each["textDocument"]["uri"];
    REQUIRE(texts.contains(uri));
    all[uri] = {edited(texts.at(uri), each["edits"]), each["textDocument"]["version"]};
  }
  return all;
}

}  // namespace

TEST_SUITE("lsp: renames in several files") {
  TEST_CASE("an op is renamed in all files, from its declaration and from a use") {
    const DialectFolder folder;
    const std::string declaration = folder.uri("mine.mir"), user = folder.uri("inner/user.mir"),
                      rules = folder.uri("rules.mir");
    const std::map<std::string, std::string> texts = {
        {declaration, kDialect}, {user, kUser}, {rules, kPattern}};
    for (const bool from_use : {false, true}) {
      CAPTURE(from_use);
      FolderClient client(folder);
      client.open(from_use ? user : declaration, from_use ? kUser : kDialect);
      const Json prepared = from_use ? client.ask("prepareRename", user, 1, 12)
                                     : client.ask("prepareRename", declaration, 2, 20);
      CHECK(prepared["placeholder"] == "ScaleOp");
      const Json answer = from_use ? client.ask("rename", user, 1, 12, "GrowOp")
                                   : client.ask("rename", declaration, 2, 20, "GrowOp");
      const auto found = results(answer, texts);
      REQUIRE(found.size() == 3);
      for (const auto& [uri, text] : texts) {
        CHECK(found.at(uri).first == replaced(text, "ScaleOp", "GrowOp"));
        const bool is_open = uri == (from_use ? user : declaration);
        CHECK(found.at(uri).second == (is_open ? Json(7) : Json(nullptr)));
      }
    }
  }

  TEST_CASE("an attribute of an op is renamed with its variable and its uses") {
    const DialectFolder folder;
    const std::string declaration = folder.uri("mine.mir"), user = folder.uri("inner/user.mir");
    const std::map<std::string, std::string> texts = {{declaration, kDialect}, {user, kUser}};
    for (const bool from_use : {false, true}) {
      CAPTURE(from_use);
      FolderClient client(folder);
      client.open(from_use ? user : declaration, from_use ? kUser : kDialect);
      const Json answer = from_use ? client.ask("rename", user, 2, 33, "times")
                                   : client.ask("rename", declaration, 2, 42, "times");
      const auto found = results(answer, texts);
      REQUIRE(found.size() == 2);
      for (const auto& [uri, text] : texts) {
        CHECK(found.at(uri).first == replaced(text, "factor", "times"));
      }
    }
  }

  TEST_CASE("the definition of an attribute is in the file that declares the op") {
    const DialectFolder folder;
    FolderClient client(folder);
    client.open(folder.uri("inner/user.mir"), kUser);
    const Json found = client.ask("definition", folder.uri("inner/user.mir"), 1, 34);
    REQUIRE(found.size() == 1);
    CHECK(found[0]["uri"] == folder.uri("mine.mir"));
    CHECK(found[0]["range"]["start"] == Json{{"line", 2}, {"character", 39}});
  }

  TEST_CASE("an open document counts instead of its file, and clients may take plain changes") {
    const DialectFolder folder;
    FolderClient client(folder, false);
    client.open(folder.uri("mine.mir"), kDialect);
    const std::string text = "// changed\n" + kUser;
    client.open(folder.uri("inner/user.mir"), text);
    const Json answer = client.ask("rename", folder.uri("mine.mir"), 2, 20, "GrowOp");
    REQUIRE(answer.contains("changes"));
    CHECK(edited(text, answer["changes"][folder.uri("inner/user.mir")]) ==
          replaced(text, "ScaleOp", "GrowOp"));
  }

  TEST_CASE("a rename that clashes, or whose declaration or files cannot be read, is refused") {
    const DialectFolder folder;
    FolderClient client(folder);
    client.open(folder.uri("inner/user.mir"), kUser);
    const auto refusal = [&](const std::string& name) {
      return client.ask("rename", folder.uri("inner/user.mir"), 1, 12, name).value("message", "");
    };
    CHECK(refusal("OtherOp") == "'" + folder.uri("mine.mir") + "' has 'mine.OtherOp' already");
    CHECK(refusal("tile") == "'" + folder.uri("mine.mir") + "' has 'mine.tile' already");
    CHECK(refusal("a b").find("is no name") != std::string::npos);
    CHECK(refusal("GrowOp").empty());
    folder.write("large.mir", "");
    std::filesystem::resize_file(folder.path / "large.mir", std::uintmax_t{1} << 32);  // of holes
    CHECK(refusal("GrowOp").starts_with("a file cannot be read: "));
    CHECK(refusal("GrowOp").find("large.mir") != std::string::npos);
    std::filesystem::remove(folder.path / "large.mir");
    std::filesystem::remove(folder.path / "mine.mir");
    CHECK(refusal("GrowOp") ==
          "no open document and no file of the folders declares 'mine.ScaleOp'");
    // An op of the build.
    CHECK(client.ask("rename", folder.uri("inner/user.mir"), 3, 8, "EndOp").contains("code"));
    CHECK(client.ask("prepareRename", folder.uri("inner/user.mir"), 3, 8) == nullptr);
  }
}

}  // namespace rename_files_test

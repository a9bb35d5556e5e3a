// Layers, their parameters and the files of their weights.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "client.hpp"

using namespace mir;
using mir::test::edited;
using mir::test::Json;
using mir::test::kUri;
using mir::test::LspClient;
using mir::test::text_of;

namespace layers_test {

namespace {

const std::string kModel =
    "@main [mir_version:1] (%x:tensor<[2, 4], Float32, CPU>) -> (%y:tensor<[2, 4], Float32, CPU>) "
    "{\n"
    "    graph.SubGraphOp @init <notype> {\n"
    "        () -> () {\n"
    "            tensor.CPU.register () -> (%0:tensor<[4, 4], Float32, "
    "CPU>[@net.up.weight])[symbol:net.up.weight]\n"
    "            tensor.CPU.register () -> (%1:tensor<[4], Float32, "
    "CPU>[@net.up.bias])[symbol:net.up.bias]\n"
    "            tensor.CPU.register () -> (%2:tensor<[4, 4], Float32, "
    "CPU>[@net.down.weight])[symbol:net.down.weight]\n"
    "            tensor.CPU.register () -> (%3:tensor<[2, 4], Float32, "
    "CPU>[@scale])[symbol:scale]\n"
    "        }\n"
    "    }\n"
    "    linalg.CPU.LinearOp <name=\"net.up\"> [bias:true] (%x) -> (%up)\n"
    "    linalg.CPU.MulOp(%up, %3:tensor<[2, 4], Float32, CPU>[@scale]) -> (%y)\n"
    "    cf.ReturnOp (%y) -> ()\n"
    "}\n";

Json place_of(const std::string& text, std::string_view word, std::size_t offset = 0, int n = 0) {
  std::size_t at = text.find(word);
  for (; n > 0; --n) at = text.find(word, at + 1);
  REQUIRE(at != text.npos);
  at += offset;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  return {{"line", line}, {"character", at - begin}};
}

Json ask(LspClient& client, const std::string& method, const Json& place,
         const Json& parts = Json::object()) {
  return client.at(method, place["line"], place["character"], parts);
}

std::vector<std::string> texts_at(const std::string& text, const Json& places) {
  std::vector<std::string> found;
  for (const Json& each : places) found.push_back(text_of(text, each["range"]));
  return found;
}

std::set<std::string> labels_of(const Json& list) {
  std::set<std::string> labels;
  for (const Json& each : list["items"]) labels.insert(each["label"]);
  return labels;
}

using Words = std::vector<std::string>;

/// A folder with the model, and files of weights.
class ModelFolder {
 public:
  ModelFolder() { std::filesystem::create_directories(path); }
  ~ModelFolder() { std::filesystem::remove_all(path); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
  }
  /// A safetensors file with one tensor of Float32.
  void write_weights(const std::string& name, const std::string& tensor, const std::string& shape,
                     const std::vector<float>& values) const {
    std::string head = "{\"" + tensor + "\":{\"dtype\":\"F32\",\"shape\":" + shape +
                       ",\"data_offsets\":[0," + std::to_string(4 * values.size()) + "]}}";
    while (head.size() % 8 != 0) head += ' ';
    std::string bytes(8, '\0');
    const std::uint64_t size = head.size();
    std::memcpy(bytes.data(), &size, sizeof size);
    bytes += head;
    bytes.append(reinterpret_cast<const char*>(values.data()), 4 * values.size());
    write(name, bytes);
  }
  std::string uri() const { return "file://" + path.string(); }

  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("mir_lsp_weights_" + std::to_string(::getpid()));
};

/// Starts the server for a folder and opens its file `model.mir`.
void open_model(LspClient& client, const ModelFolder& folder, const Json& options,
                const Json& capabilities = Json::object()) {
  client.request("initialize", {{"processId", nullptr},
                                {"capabilities", capabilities},
                                {"rootUri", folder.uri()},
                                {"initializationOptions", options}});
  client.notify("initialized", Json::object());
  client.notify("textDocument/didOpen", {{"textDocument",
                                          {{"uri", folder.uri() + "/model.mir"},
                                           {"languageId", "mir"},
                                           {"version", 1},
                                           {"text", kModel}}}});
}

/// Hovers over a word of the model.
std::string hover_in(LspClient& client, const ModelFolder& folder, std::string_view word) {
  return client.request("textDocument/hover",
                        {{"textDocument", {{"uri", folder.uri() + "/model.mir"}}},
                         {"position", place_of(kModel, word, 2)}})["contents"]["value"];
}
std::string hover_in(const ModelFolder& folder, std::string_view word,
                     const Json& options = nullptr) {
  LspClient client(Json::object(), false);
  open_model(client, folder, options);
  return hover_in(client, folder, word);
}

}  // namespace

TEST_SUITE("lsp: weights") {
  TEST_CASE("layers named after their graph have parameters, and new names") {
    const std::string type = "tensor<[4, 4], Float32, CPU>";
    const std::string text = "@main [mir_version:2] (%x:" + type + ") -> (%y:" + type +
                             ") {\n"
                             "    graph.SubGraphOp @init <notype> [*] {\n"
                             "        () -> () {\n"
                             "            .register () -> (%0:" +
                             type +
                             "[@g.q.weight])[*]\n"
                             "        }\n"
                             "    }\n"
                             "    graph.SubGraphOp @g <CPU> [*] {\n"
                             "        (%a:" +
                             type + ") -> (%b:" + type +
                             ") {\n"
                             "            .LinearOp <.q> [*] (%a) -> (%b)\n"
                             "            cf.ReturnOp (%b) -> ()\n"
                             "        }\n"
                             "    }\n"
                             "    graph.CallGraphOp @g (%x) -> (%y)\n"
                             "    cf.ReturnOp (%y) -> ()\n"
                             "}\n";
    LspClient client;
    client.open(text);
    CHECK(client.diagnostics() == Json::array());
    const Json definition = ask(client, "definition", place_of(text, "<.q>", 2));
    CHECK(definition.dump().find(place_of(text, "g.q.weight").dump()) != std::string::npos);
    const auto renamed = [&](const Json& place, const char* name) {
      const Json edit = ask(client, "rename", place, {{"newName", name}});
      CAPTURE(edit);
      REQUIRE(edit.contains("changes"));
      return edited(text, edit["changes"][kUri]);
    };
    const auto has = [](const std::string& in, std::initializer_list<const char*> parts) {
      return std::ranges::all_of(parts, [&](const char* part) { return in.find(part) != in.npos; });
    };
    CHECK(has(renamed(place_of(text, "<.q>", 2), "g.k"), {"[@g.k.weight]", "<.k>"}));
    CHECK(
        has(renamed(place_of(text, "g.q.weight", 1), "z.weight"), {"[@z.weight]", "<name=\"z\">"}));
    CHECK(has(renamed(place_of(text, "@g <", 1), "h"),
              {"[@g.q.weight]", "SubGraphOp @h ", "CallGraphOp @h ", "<name=\"g.q\">"}));
  }

  TEST_CASE("the name of a layer leads to its parameters, and these to it") {
    LspClient client;
    client.open(kModel);
    CHECK(client.diagnostics() == Json::array());
    const Json layer = place_of(kModel, "<name=\"net.up", 9);
    const Json found = ask(client, "definition", layer);
    REQUIRE(found.size() == 2);
    CHECK(found[0]["range"]["start"]["line"] == 3);
    CHECK(found[1]["range"]["start"]["line"] == 4);
    const Json context = {{"context", {{"includeDeclaration", true}}}};
    CHECK(texts_at(kModel, ask(client, "references", layer, context)) == Words(5, "net.up"));
    const Json weight = place_of(kModel, "@net.up.weight", 3);
    CHECK(texts_at(kModel, ask(client, "references", weight, context)) ==
          Words{"net.up.weight", "net.up.weight", "net.up"});
    const std::string hover = ask(client, "hover", layer)["contents"]["value"];
    CHECK(hover.find("@net.up.weight: tensor<[4, 4], Float32, CPU>, 64 bytes") != hover.npos);
    CHECK(hover.find("@net.up.bias: tensor<[4], Float32, CPU>, 16 bytes") != hover.npos);
    const std::string about = ask(client, "hover", weight)["contents"]["value"];
    CHECK(about.find("parameter of layer net.up") != about.npos);
  }

  TEST_CASE("a layer shows the parameters that its op owns, registered or not") {
    std::string text = kModel;
    text.replace(text.find("name=\"net.up\""), 13, "name=\"net.down\"");
    LspClient client;
    client.open(text);
    const Json layer = place_of(text, "<name=\"net.down", 9);
    std::string hover = ask(client, "hover", layer)["contents"]["value"];
    CAPTURE(hover);
    CHECK(
        hover.find("@net.down.weight: tensor<[4, 4], Float32, CPU>, 64 bytes\n\nregistered at line "
                   "6") != hover.npos);
    CHECK(hover.find("@net.down.bias\n\nnot registered") != hover.npos);
    text.replace(text.find("bias:true"), 9, "bias:false");
    LspClient other;
    other.open(text);
    hover = ask(other, "hover", layer)["contents"]["value"];
    CHECK(hover.find("bias") == hover.npos);
  }

  TEST_CASE("a layer is renamed with its parameters from both sides") {
    const auto renamed = [](const Json& place, const char* name) {
      LspClient client;
      client.open(kModel);
      const Json edit = ask(client, "rename", place, {{"newName", name}});
      REQUIRE_MESSAGE(edit.contains("changes"), edit.dump());
      return edited(kModel, edit["changes"][kUri]);
    };
    const Json layer = place_of(kModel, "<name=\"net.up", 9);
    const Json weight = place_of(kModel, "@net.up.weight", 3);
    std::string wanted = kModel;
    for (auto at = wanted.find("net.up"); at != wanted.npos; at = wanted.find("net.up", at + 1)) {
      wanted.replace(at, 6, "net.gate");
    }
    CHECK(renamed(layer, "net.gate") == wanted);
    CHECK(renamed(weight, "net.gate.weight") == wanted);
    CHECK(renamed(weight, "net.up.weight") == kModel);
    LspClient client;
    client.open(wanted);
    CHECK(client.diagnostics() == Json::array());
  }

  TEST_CASE("a new name that breaks the tie of layer and parameter is refused") {
    LspClient client;
    client.open(kModel);
    const auto refusal = [&](const Json& place, const char* name) {
      return ask(client, "rename", place, {{"newName", name}}).value("message", "");
    };
    const Json layer = place_of(kModel, "<name=\"net.up", 9);
    const Json weight = place_of(kModel, "@net.up.weight", 3);
    CHECK(refusal(weight, "other") ==
          "'@net.up.weight' belongs to layer 'net.up', so its name must end in '.weight'");
    CHECK(refusal(layer, "net.down") == "the module has a symbol '@net.down.weight' already");
    CHECK(refusal(layer, "a b").find("is no name") != std::string::npos);
    CHECK(refusal(place_of(kModel, "@scale", 2), "size").empty());
  }

  TEST_CASE("strings of layers and brackets of parameters are completed") {
    const auto offered = [](const std::string& typed) {
      std::string text = kModel;
      text.insert(text.find("    cf.ReturnOp"), typed + "\n");
      LspClient client;
      client.open(text);
      return labels_of(client.at("completion", 11, static_cast<int>(typed.size())));
    };
    using Names = std::set<std::string>;
    CHECK(offered("    linalg.CPU.LinearOp <name=\"") == Names{"net.down", "net."});
    CHECK(offered("    linalg.CPU.LinearOp <name=\"net.d") == Names{"net.down", "net."});
    CHECK(offered("    linalg.CPU.NegOp(%3:tensor<[2, 4], Float32, CPU>[@") ==
          Names{"@net.up.weight", "@net.up.bias", "@net.down.weight", "@scale"});
    std::string text = kModel;
    const std::size_t line = text.find("            tensor.CPU.register () -> (%1");
    text.erase(line, text.find('\n', line) + 1 - line);
    const std::string typed =
        "            tensor.CPU.register () -> (%9:tensor<[4], Float32, CPU>[@";
    text.insert(line, typed + "\n");
    LspClient client;
    client.open(text);
    CHECK(labels_of(client.at("completion", 4, static_cast<int>(typed.size()))) ==
          Names{"@net.up.bias"});
  }

  TEST_CASE("a whole op is offered with the layers that have its parameters") {
    std::string text = kModel;
    text.insert(text.find("    cf.ReturnOp"), "    l\n");
    LspClient client(
        Json{{"textDocument", {{"completion", {{"completionItem", {{"snippetSupport", true}}}}}}}});
    client.open(text);
    const Json list = client.at("completion", 11, 5);
    for (const Json& each : list["items"]) {
      if (each["label"] != "linalg.CPU.LinearOp") continue;
      CHECK(each["textEdit"]["newText"].get<std::string>() ==
            "linalg.CPU.LinearOp <name=\"${1:net.down}\"> [bias:${2|true,false|}] (%${3:x}) -> "
            "(%${4:net.down})");
      return;
    }
    FAIL("no LinearOp");
  }

  TEST_CASE("hovers show statistics of the file beside the model, or of a chosen one") {
    const ModelFolder folder;
    CHECK(hover_in(folder, "@net.up.bias").find("min") == std::string::npos);
    folder.write_weights("model.safetensors", "net.up.bias", "[4]",
                         {1, 3, std::numeric_limits<float>::quiet_NaN(), 0});
    std::string hover = hover_in(folder, "@net.up.bias");
    CAPTURE(hover);
    CHECK(hover.find("model.safetensors: Float32 [4], 16 bytes") != hover.npos);
    CHECK(hover.find("min 0, max 3, mean 1.33333, standard deviation 1.24722, 1 zeros, 1 NaN, 0 "
                     "infinite") != hover.npos);
    hover = hover_in(folder, "@net.up.weight");
    CHECK(hover.find("model.safetensors has no tensor of this name") != hover.npos);
    folder.write_weights("other.safetensors", "net.up.bias", "[2]", {5, 5});
    for (const Json& chosen :
         {Json("other.safetensors"), Json::array({"model.safetensors", "other.safetensors"})}) {
      hover = hover_in(folder, "@net.up.bias", {{"weights", chosen}});
      CHECK(hover.find("other.safetensors: Float32 [2], 8 bytes") != hover.npos);
    }
    folder.write("model.safetensors", "no tensors");
    CHECK(hover_in(folder, "@net.up.bias").find("'") != std::string::npos);
  }

  TEST_CASE("settings that the client changes apply to the next hover") {
    const ModelFolder folder;
    folder.write_weights("one.safetensors", "net.up.bias", "[2]", {1, 1});
    folder.write_weights("two.safetensors", "net.up.bias", "[3]", {2, 2, 2});
    LspClient client(Json::object(), false);
    open_model(client, folder, {{"weights", "one.safetensors"}});
    const auto shows = [&](std::string_view file) {
      return hover_in(client, folder, "@net.up.bias").find(file) != std::string::npos;
    };
    const auto change = [&](const Json& settings) {
      client.notify("workspace/didChangeConfiguration", {{"settings", settings}});
    };
    CHECK(shows("one.safetensors: Float32 [2]"));
    change({{"mllm-ir", {{"weights", {"two.safetensors"}}}}});
    CHECK(shows("two.safetensors: Float32 [3]"));
    change({{"weights", "one.safetensors"}});
    CHECK(shows("one.safetensors: Float32 [2]"));
    // What is not stated, or wrong, changes nothing; a wrong value is logged.
    change({{"mllm-ir", {{"server", "mllm-lsp"}}}});
    change(nullptr);
    client.sent.clear();
    change({{"mllm-ir", {{"weights", {1, 2}}}}});
    REQUIRE(client.sent.size() == 1);
    CHECK(client.sent[0]["method"] == "window/logMessage");
    CHECK(client.sent[0]["params"]["message"] ==
          "setting 'weights' is ignored: expected a path or a list of paths");
    CHECK(shows("one.safetensors: Float32 [2]"));
    change({{"mllm-ir", {{"weights", Json::array()}}}});
    CHECK_FALSE(shows("safetensors"));
  }

  TEST_CASE("settings are asked for where the client does not send them") {
    const ModelFolder folder;
    folder.write_weights("one.safetensors", "net.up.bias", "[2]", {1, 1});
    LspClient client(Json::object(), false);
    open_model(
        client, folder, nullptr,
        {{"workspace",
          {{"configuration", true}, {"didChangeConfiguration", {{"dynamicRegistration", true}}}}}});
    const auto registers = [](const Json& each) {
      return each.value("method", "") == "client/registerCapability" &&
             each["params"]["registrations"][0]["method"] == "workspace/didChangeConfiguration";
    };
    CHECK(std::ranges::count_if(client.sent, registers) == 1);
    client.notify("workspace/didChangeConfiguration", {{"settings", nullptr}});
    const Json asked = client.sent.back();
    CHECK(asked["method"] == "workspace/configuration");
    CHECK(asked["params"]["items"] == Json::array({{{"section", "mllm-ir"}}}));
    const Json answer = {{"jsonrpc", "2.0"},
                         {"id", asked["id"]},
                         {"result", Json::array({{{"weights", "one.safetensors"}}})}};
    client.server.receive(answer.dump());
    CHECK(hover_in(client, folder, "@net.up.bias").find("one.safetensors") != std::string::npos);
  }

  TEST_CASE("statistics of a large tensor are those of runs at equal distances") {
    const ModelFolder folder;
    const std::int64_t most = lsp::WeightFiles::kMostElements;
    std::vector<float> values(static_cast<std::size_t>(2 * most), 2.0F);
    std::fill(values.begin() + most, values.end(), 4.0F);
    folder.write_weights("model.safetensors", "net.up.bias",
                         "[" + std::to_string(values.size()) + "]", values);
    const std::string hover = hover_in(folder, "@net.up.bias");
    CAPTURE(hover);
    CHECK(hover.find("min 2, max 4, mean 3, standard deviation 1,") != hover.npos);
    CHECK(hover.find("of 4194304 of 8388608 elements") != hover.npos);
  }

  TEST_CASE("symbols of the workspace are those of files that are not open, too") {
    const ModelFolder folder;
    folder.write("model.mir", kModel);
    LspClient client(Json::object(), false);
    client.request(
        "initialize",
        {{"processId", nullptr}, {"capabilities", Json::object()}, {"rootUri", folder.uri()}});
    client.notify("initialized", Json::object());
    const auto names = [&](const char* query) {
      std::set<std::string> found;
      for (const Json& each : client.request("workspace/symbol", {{"query", query}})) {
        CHECK(each["location"]["uri"] == folder.uri() + "/model.mir");
        found.insert(each["name"]);
      }
      return found;
    };
    using Names = std::set<std::string>;
    CHECK(names("net.UP") == Names{"@net.up.weight", "@net.up.bias"});
    CHECK(names("@main") == Names{"@main"});
    CHECK(names("nothing") == Names{});
    // The file changes.
    std::string text = kModel;
    text.replace(text.find("@main"), 5, "@other");
    folder.write("model.mir", text);
    CHECK(names("@other") == Names{"@other"});
    // An open document counts instead of its file.
    client.notify("textDocument/didOpen", {{"textDocument",
                                            {{"uri", folder.uri() + "/model.mir"},
                                             {"languageId", "mir"},
                                             {"version", 1},
                                             {"text", kModel}}}});
    CHECK(names("@other") == Names{});
  }

  TEST_CASE("the symbol of a call shows the signature of the graph, and leads to it") {
    const std::string text =
        "@main [mir_version:2] (%in:tensor<[2], Float32, CPU>) -> (%out:tensor<[2], Float32, CPU>) "
        "{\n"
        "    graph.SubGraphOp @f <CPU> {\n"
        "        (%a:tensor<[2], Float32, CPU>) -> (%r[result]) {\n"
        "            linalg.CPU.NegOp (%a) -> (%r)\n"
        "            cf.ReturnOp (%r) -> ()\n"
        "        }\n"
        "    }\n"
        "    graph.CallGraphOp @f (%in) -> (%out)\n"
        "    cf.ReturnOp (%out) -> ()\n"
        "}\n";
    LspClient client;
    client.open(text);
    CHECK(client.diagnostics() == Json::array());
    const Json call = place_of(text, "@f", 1, 1);
    const std::string hover = ask(client, "hover", call)["contents"]["value"];
    CAPTURE(hover);
    CHECK(
        hover.starts_with("@f (%a: tensor<[2], Float32, CPU>) -> (%r: tensor<[2], Float32, CPU> "
                          "[result])"));
    const Json found = ask(client, "definition", call);
    REQUIRE(found.size() == 1);
    CHECK(found[0]["range"]["start"]["line"] == 1);
  }
}

}  // namespace layers_test

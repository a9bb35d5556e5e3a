// Code actions that make a new text, and what ops and graphs cost.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "client.hpp"

using namespace mir;
using mir::test::edited;
using mir::test::Json;
using mir::test::kUri;
using mir::test::LspClient;

namespace refactor_test {

namespace {

const std::string kT = ":tensor<[2, 4], Float32, CPU>";

const std::string kTyped = "@main [mir_version:1] (%x" + kT + ") -> (%y" + kT +
                           ") {\n"
                           "    graph.SubGraphOp @twice <CPU> {\n"
                           "        (%a" +
                           kT + ") -> (%b" + kT +
                           ") {\n"
                           "            linalg.CPU.AddOp(%a" +
                           kT + ", %a" + kT + ") -> (%b" + kT +
                           ")\n"
                           "            cf.ReturnOp (%b" +
                           kT +
                           ") -> ()\n"
                           "        }\n"
                           "    }\n"
                           "    // before the call\n"
                           "    graph.CallGraphOp @twice (%x" +
                           kT + ") -> (%y" + kT +
                           ")\n"
                           "    cf.ReturnOp (%y" +
                           kT +
                           ") -> ()\n"
                           "}\n";

const Json kResolves = {
    {"textDocument", {{"codeAction", {{"resolveSupport", {{"properties", {"edit"}}}}}}}}};

const Json kRuns = {{"experimental", {{"commands", {{"commands", Json::array({"mllm-ir.run"})}}}}}};

Json actions_at(LspClient& client, int line, const Json& only = nullptr) {
  const Json place = {{"line", line}, {"character", 8}};
  Json context = {{"diagnostics", Json::array()}};
  if (!only.is_null()) context["only"] = only;
  return client.of("codeAction",
                   {{"range", {{"start", place}, {"end", place}}}, {"context", context}});
}

Json action_of(const Json& actions, std::string_view words) {
  for (const Json& each : actions) {
    if (each["title"].get<std::string>().find(words) != std::string::npos) return each;
  }
  return nullptr;
}

std::string changed(LspClient& client, const std::string& text, const Json& action) {
  const Json resolved = client.request("codeAction/resolve", action);
  REQUIRE(resolved.contains("edit"));
  return edited(text, resolved["edit"]["changes"][kUri]);
}

}  // namespace

TEST_SUITE("lsp: refactorings") {
  TEST_CASE("types are left out and come back") {
    LspClient client(kResolves);
    client.open(kTyped);
    const Json brief = action_of(actions_at(client, 9), "Leave out types");
    REQUIRE_FALSE(brief.is_null());
    CHECK_FALSE(brief.contains("edit"));
    const std::string text = changed(client, kTyped, brief);
    CHECK(text.find("AddOp(%a, %a) -> (%b)") != text.npos);
    CHECK(text.find("    // before the call\n    graph.CallGraphOp @twice (%x) -> (%y)\n") !=
          text.npos);
    client.change(Json::array({{{"text", text}}}));
    const Json all = action_of(actions_at(client, 9, {"refactor"}), "Write all types");
    CHECK(changed(client, text, all) == kTyped);
    CHECK(action_of(actions_at(client, 9), "Upgrade") == nullptr);
  }

  TEST_CASE("a call is inlined where the cursor is") {
    LspClient client(kResolves);
    client.open(kTyped);
    const Json inlining = action_of(actions_at(client, 8), "Inline the call of @twice");
    REQUIRE_FALSE(inlining.is_null());
    CHECK(inlining["kind"] == "refactor.inline");
    const std::string text = changed(client, kTyped, inlining);
    CHECK(text.find("CallGraphOp") == text.npos);
    CHECK(text.find("linalg.CPU.AddOp(%x") != text.npos);
    client.change(Json::array({{{"text", text}}}));
    CHECK(client.diagnostics() == Json::array());
    CHECK(action_of(actions_at(client, 1), "Inline") == nullptr);
  }

  TEST_CASE("refactorings leave out what the text leaves out") {
    // Only types are left out, or all that reading finds again.
    const std::string types = "@main [mir_version:2] (%x" + kT + ") -> (%y" + kT +
                              ") {\n"
                              "    graph.SubGraphOp @twice <CPU> {\n"
                              "        (%a" +
                              kT + ") -> (%b" + kT +
                              ") {\n"
                              "            linalg.CPU.AddOp(%a, %a) -> (%c)\n"
                              "            linalg.CPU.NegOp(%c) -> (%b)\n"
                              "            cf.ReturnOp (%b) -> ()\n"
                              "        }\n"
                              "    }\n"
                              "    graph.CallGraphOp @twice (%x) -> (%z)\n"
                              "    linalg.CPU.AbsOp(%z) -> (%s)\n"
                              "    linalg.CPU.NegOp(%s) -> (%y" +
                              kT +
                              ")\n"
                              "    cf.ReturnOp (%y) -> ()\n"
                              "}\n";
    LspClient writer(kResolves);
    writer.open(types);
    const std::string brief =
        changed(writer, types, action_of(actions_at(writer, 9), "Leave out types"));
    REQUIRE(brief.find("!f32_2x4") != brief.npos);
    const auto inlined = [](const std::string& text, std::string_view call) {
      LspClient client(kResolves);
      client.open(text);
      const auto line = std::count(text.begin(), text.begin() + text.find(call), '\n');
      return changed(client, text,
                     action_of(actions_at(client, static_cast<int>(line)), "Inline the call"));
    };
    CHECK(inlined(types, "graph.CallGraphOp")
              .find("    linalg.CPU.AddOp(%x, %x) -> (%c)\n"
                    "    linalg.CPU.NegOp(%c) -> (%z)\n"
                    "    linalg.CPU.AbsOp(%z) -> (%s)\n"
                    "    linalg.CPU.NegOp(%s) -> (%y" +
                    kT + ")\n") != std::string::npos);
    const std::string short_text = inlined(brief, "graph.CallGraphOp");
    CAPTURE(short_text);
    CHECK(short_text.find("    .AddOp(%x, %x) -> (%c)\n") != short_text.npos);
    CHECK(short_text.find("tensor<[2, 4], Float32, CPU>") ==
          short_text.rfind("tensor<[2, 4], Float32, CPU>"));
    // A text that states types keeps them.
    CHECK(inlined(kTyped, "graph.CallGraphOp").find("AddOp(%x" + kT) != std::string::npos);
  }

  TEST_CASE("a graph becomes the module") {
    LspClient client(kResolves);
    client.open(kTyped);
    const Json extraction = action_of(actions_at(client, 1), "Extract graph @twice as the module");
    REQUIRE_FALSE(extraction.is_null());
    CHECK(extraction["kind"] == "refactor.extract");
    const std::string text = changed(client, kTyped, extraction);
    CHECK(text.starts_with("@main [mir_version:1] (%a" + kT + ") -> ("));
    CHECK(text.find("SubGraphOp @twice") != text.npos);
    client.change(Json::array({{{"text", text}}}));
    CHECK(client.diagnostics() == Json::array());
    CHECK(action_of(actions_at(client, 8), "Extract") == nullptr);
  }

  TEST_CASE("a dump is upgraded, with a report") {
    LspClient client(kResolves);
    const std::string dump =
        "@main () -> () {\n"
        "    graph.SubGraphOp @net <CPU> {\n"
        "        (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) {\n"
        "            linalg.CPU.SiLUOp(%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, "
        "CPU>)\n"
        "            cf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> ()\n"
        "        }\n"
        "    }\n"
        "    graph.CallGraphOp @net (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, "
        "CPU>)\n"
        "}\n";
    client.open(dump);
    const Json action = action_of(actions_at(client, 0), "Upgrade");
    REQUIRE_FALSE(action.is_null());
    const std::string text = changed(client, dump, action);
    CHECK(text.starts_with("@main [mir_version:1]"));
    bool is_reported = false;
    for (const Json& each : client.sent) {
      is_reported |= each.value("method", "") == "window/showMessage";
    }
    CHECK(is_reported);
  }

  TEST_CASE("the facts that a dump lost are written beside it, and used from then on") {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("mir lsp facts " + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const std::string uri = lsp::uri_of_path((folder / "a dump.mir").string());
    const std::string dump =
        "@main () -> () {\n    linalg.CPU.ClipOp(%0" + kT + ") -> (%1" + kT + ")\n}\n";
    const auto act = [&](LspClient& client, const std::string& at, std::string_view title) {
      client.notify(
          "textDocument/didOpen",
          {{"textDocument", {{"uri", at}, {"languageId", "mir"}, {"version", 1}, {"text", dump}}}});
      const Json begin = {{"line", 0}, {"character", 0}};
      const Json actions = client.request("textDocument/codeAction",
                                          {{"textDocument", {{"uri", at}}},
                                           {"range", {{"start", begin}, {"end", begin}}},
                                           {"context", {{"diagnostics", Json::array()}}}});
      const Json action = action_of(actions, title);
      return action.is_null() ? action : client.request("codeAction/resolve", action);
    };
    constexpr std::string_view kWrite = "Write the facts that the dump lost to 'a dump.facts.json'";
    Json creates = kResolves;
    creates["workspace"]["workspaceEdit"] = {{"documentChanges", true},
                                             {"resourceOperations", {"create"}}};
    LspClient client(creates), plain(kResolves);
    CHECK(act(plain, uri, kWrite) == nullptr);
    CHECK(act(client, "untitled:a", "Write the facts") == nullptr);
    CHECK(act(client, uri, "Upgrade")["message"] ==
          "linalg.ClipOp: min_val is lost: upstream does not print it; grant it with "
          "--assume='Clip.0.min_val=...'");
    const std::string facts = lsp::uri_of_path((folder / "a dump.facts.json").string());
    const auto written = [&] {
      const Json edits = act(client, uri, kWrite)["edit"]["documentChanges"];
      REQUIRE(edits.size() == 2);
      CHECK(edits[0] ==
            Json({{"kind", "create"}, {"uri", facts}, {"options", {{"overwrite", true}}}}));
      CHECK(edits[1]["textDocument"] == Json({{"uri", facts}, {"version", nullptr}}));
      return Json::parse(edits[1]["edits"][0]["newText"].get<std::string>())["assume"];
    };
    CHECK(written() == Json({{"Clip.0.min_val", nullptr}, {"Clip.0.max_val", nullptr}}));
    std::ofstream(folder / "a dump.facts.json")
        << R"({"schema": 1, "assume": {"Clip.0.min_val": -2.5, "Clip.0.max_val": null}})";
    CHECK(written() == Json({{"Clip.0.min_val", -2.5}, {"Clip.0.max_val", nullptr}}));
    std::ofstream(folder / "a dump.facts.json")
        << R"({"schema": 1, "assume": {"Clip.0.min_val": -2.5, "Clip.0.max_val": 6.5}})";
    CHECK(act(client, uri, kWrite)["message"] == "the dump can be upgraded without further facts");
    const Json upgraded = act(client, uri, "Upgrade")["edit"];
    CHECK(upgraded.dump().find("[max_val:6.5, min_val:-2.5]") != std::string::npos);
    std::ofstream(folder / "a dump.facts.json") << "{";
    CHECK(act(client, uri, "Upgrade")["message"].get<std::string>().find(
              "facts.json': a sidecar") != std::string::npos);
    std::filesystem::remove_all(folder);
  }

  TEST_CASE("a dump that would not verify is not upgraded") {
    LspClient client(kResolves);
    client.open(
        "@main () -> () {\n"
        "    graph.SubGraphOp @init <notype> {\n"
        "        () -> () {\n"
        "            tensor.CPU.register () -> (%0:tensor<[2], Float32, CPU>[@a.weight])"
        "[symbol:b.weight]\n"
        "        }\n"
        "    }\n"
        "}\n");
    const Json action = action_of(actions_at(client, 1), "Upgrade");
    REQUIRE_FALSE(action.is_null());
    CHECK(client.request("codeAction/resolve", action).contains("message"));
  }

  TEST_CASE("an action for an old text is refused") {
    LspClient client(kResolves);
    client.open(kTyped);
    const Json action = action_of(actions_at(client, 0), "Write all types");
    const Json start = {{"line", 0}, {"character", 0}};
    client.change(
        Json::array({{{"range", {{"start", start}, {"end", start}}}, {"text", "// new\n"}}}));
    CHECK(client.request("codeAction/resolve", action)["code"] == -32801);
  }

  TEST_CASE("a client that resolves nothing gets edits when it asks for refactorings") {
    LspClient client;
    client.open(kTyped);
    CHECK(actions_at(client, 8).empty());
    const Json actions = actions_at(client, 8, {"refactor"});
    CHECK(actions.size() == 3);
    for (const Json& each : actions) CHECK(each.contains("edit"));
    CHECK(actions_at(client, 8, {"refactor.inline"}).size() == 1);
  }

  TEST_CASE("texts with errors of syntax are not refactored") {
    LspClient client(kResolves);
    client.open(kTyped + "@");
    CHECK(actions_at(client, 8).empty());
  }

  TEST_CASE("graphs show what they cost, ops on hovering") {
    const std::string text =
        "@main [mir_version:1] (%x:tensor<[2, 1000], Float32, CPU>, %w:tensor<[1000, 4], Float32, "
        "CPU>) -> (%y:tensor<[2, 4], Float32, CPU>) {\n"
        "    linalg.CPU.MatMulOp [transpose_b:false] (%x, %w) -> (%y)\n"
        "    cf.ReturnOp (%y) -> ()\n"
        "}\n";
    LspClient client;
    client.open(text);
    const Json lenses = client.of("codeLens");
    REQUIRE(lenses.size() == 1);
    const std::string title = lenses[0]["command"]["title"];
    CHECK(title.starts_with("16 kFLOP, reads 24 kB, writes 32 B, peak "));
    const std::string hover = client.at("hover", 1, 18)["contents"]["value"];
    CHECK(hover.find("16 kFLOP, reads 24 kB, writes 32 B") != hover.npos);
    // The IR of a large text is not kept after its analysis.
    LspClient large;
    large.open(text + "// " + std::string(std::size_t{300} * 1024, 'x') + "\n");
    CHECK(large.diagnostics() == client.diagnostics());
    for (int i = 0; i < 2; ++i) {
      CHECK(large.at("hover", 1, 18) == client.at("hover", 1, 18));
      CHECK(large.of("codeLens") == lenses);
    }
    large.change(
        {{{"range",
           {{"start", {{"line", 1}, {"character", 0}}}, {"end", {{"line", 1}, {"character", 0}}}}},
          {"text", "\n"}}});
    CHECK(large.diagnostics() == Json::array());
    CHECK(large.of("codeLens")[0]["command"] == lenses[0]["command"]);
    LspClient wrong;
    wrong.open(text + "@");
    CHECK(wrong.of("codeLens").empty());
    LspClient dump;
    dump.open(
        "@main () -> () {\n"
        "    linalg.CPU.ReLUOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n"
        "}\n");
    CHECK(dump.diagnostics() == Json::array());
    CHECK(dump.of("codeLens").empty());
    // A prefix begins at a thousand.
    for (const auto& [depth, work] :
         {std::pair("499", "998 FLOP,"), std::pair("500", "1 kFLOP,"),
          std::pair("499500", "999 kFLOP,"), std::pair("500000", "1 MFLOP,")}) {
      std::string row = text;
      for (const auto& [from, to] : {std::pair<std::string, std::string>("[2, 1000]", "[1, $K]"),
                                     {"[1000, 4]", "[$K, 1]"},
                                     {"[2, 4]", "[1, 1]"}}) {
        row.replace(row.find(from), from.size(), to);
      }
      for (auto at = row.find("$K"); at != row.npos; at = row.find("$K")) row.replace(at, 2, depth);
      LspClient of_row;
      of_row.open(row);
      CHECK(of_row.of("codeLens")[0]["command"]["title"].get<std::string>() == test::Part{work});
    }
  }

  TEST_CASE("a client that runs graphs gets lenses for the body and for each graph of a file") {
    LspClient client(kRuns);
    const std::string uri = "file:///models/a%20b.mir";
    std::string text = kTyped;
    for (std::size_t at = 0; (at = text.find("[2, 4]", at)) != text.npos;) {
      text.replace(at, 6, "[$S, 4]");
    }
    client.notify(
        "textDocument/didOpen",
        {{"textDocument", {{"uri", uri}, {"languageId", "mir"}, {"version", 1}, {"text", text}}}});
    const Json lenses = client.request("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}});
    std::vector<std::string> runs;
    for (const Json& lens : lenses) {
      if (lens["command"]["command"] != "mllm-ir.run") continue;
      std::string line = lens["command"]["title"].get<std::string>() + ":";
      REQUIRE(lens["command"]["arguments"].size() == 1);
      for (const Json& word : lens["command"]["arguments"][0]) {
        line += " " + word.get<std::string>();
      }
      runs.push_back(line);
    }
    const std::string inputs = " --bind=S=8 --input=0=random:1";
    const std::string body = " /models/a b.mir --weights=random:1" + inputs;
    const std::string graph = " /models/a b.mir --weights=random:1 --entry=twice" + inputs;
    CHECK(runs == std::vector<std::string>{"Run:" + body, "Profile:" + body + " --profile",
                                           "Run:" + graph, "Profile:" + graph + " --profile"});
    LspClient untitled(kRuns);
    untitled.open(text);
    for (const Json& lens : untitled.of("codeLens")) CHECK(lens["command"]["command"] == "");
  }

  TEST_CASE("a client that runs tests is offered to run one and accept its output") {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("mir lsp golden " + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const std::string text = "Counts.\n// RUN: echo one && echo two\n";
    std::ofstream(folder / "count.test") << text;
    std::ofstream(folder / "count.out") << "one\n";
    const std::string uri = lsp::uri_of_path((folder / "count.test").string());
    const auto actions_of = [&](LspClient& client, int line, const std::string& of) {
      client.notify(
          "textDocument/didOpen",
          {{"textDocument", {{"uri", of}, {"languageId", "mir"}, {"version", 1}, {"text", text}}}});
      const Json at = {{"line", line}, {"character", 3}};
      return client.request("textDocument/codeAction",
                            {{"textDocument", {{"uri", of}}},
                             {"range", {{"start", at}, {"end", at}}},
                             {"context", {{"diagnostics", Json::array()}, {"only", {"source"}}}}});
    };
    const Json can = {{"experimental", {{"commands", {{"commands", {"mllm-ir.check"}}}}}}};
    LspClient client(can), plain;
    CHECK(actions_of(client, 0, uri).empty());
    CHECK(actions_of(client, 1, "untitled:a").empty());
    CHECK(actions_of(plain, 1, uri).empty());
    const Json actions = actions_of(client, 1, uri);
    REQUIRE(actions.size() == 2);
    const auto run = [&](const Json& action) {
      std::string line =
          "env -u CI " + std::string(MIR_TOOLS) + "/mllm-check";  // CI rewrites nothing
      CHECK(action["command"]["command"].get<std::string>() == "mllm-ir.check");
      for (const Json& word : action["command"]["arguments"][0]) {
        line += " '" + word.get<std::string>() + "'";
      }
      return std::system((line + " >/dev/null 2>&1").c_str());
    };
    CHECK(run(actions[0]) != 0);  // the output differs
    run(actions[1]);
    CHECK(run(actions[0]) == 0);
    std::ifstream file(folder / "count.out");
    CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "one\ntwo\n");
    std::filesystem::remove_all(folder);
  }
}

}  // namespace refactor_test

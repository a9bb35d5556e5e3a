// Whatever has a name in the language answers every request about names.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "client.hpp"

using namespace mir;
using mir::test::edited;
using mir::test::Json;
using mir::test::LspClient;
using mir::test::text_of;

namespace {

const std::string kNames =
    R"(!row = tensor<[1, $S, 4], Float32, CPU>
!same = !row
#spec = QuantSpec(SymPerTensor(quant_min: -128, quant_max: 127), uuid=3)

@npu [mir_version:2] () -> () {
    dialect.TypeOp @tile [parameters:{rows:{type:int, range:[1, 64]}}, summary:"Rows of a tile."]
    dialect.AttributeOp @layout [parameters:{order:string}]
    dialect.OpOp @TakeOp [attributes:{k:int, form:any}, where:{"$k <= $E":"takes $k of $E"}] {
        (%x:tensor<[1, $E, $K], T, D>) -> (%y:tensor<[1, $k, $K], T, D>) {
        }
    }
    dialect.OpOp @LoadOp {
        (%x:tensor<[1, $r, $c], T, D>) -> (%t:!npu.tile<4>) {
        }
    }
}

@main [mir_version:2, symbols:{S:{min:2, max:64}}, where:"$S % 2 == 0"] (%x:!row) -> (%y:!same) {
    graph.SubGraphOp @copy <CPU> {
        (%p:tensor<[1, $S, 4], Float32, CPU>) -> (%q:tensor<[1, $S, 4], Float32, CPU>) {
            linalg.CPU.CloneOp (%p) -> (%q)
            cf.ReturnOp (%q) -> ()
        }
    }
    cf.BranchOp () -> () [^next(%x)]
^next(%b:!row):
    npu.TakeOp [k:2, form:#npu.layout<rows>, quant_recipe:#spec] (%b) -> (%few)
    npu.LoadOp (%few) -> (%t:!npu.tile<4>)
    graph.CallGraphOp @copy (%b) -> (%r:tensor<[1, $S, 4], Float32, CPU>)
    cf.BranchOp () -> () [^last(%r)]
^last(%y:!row):
    cf.ReturnOp (%y) -> ()
}
)";

struct Row {
  std::string word;      // where the request is, at its last occurrence
  std::size_t mentions;  // in the whole text
  std::size_t declared;  // the line of its definition, from 1
  std::string hover;     // words of the hover text
  std::string name;      // without sigil
  std::string taken;     // a name that cannot be given
};

/// Every kind of name that the grammar has.
const std::vector<Row> kRows = {
    {"%few", 2, 27, "result 0 of npu.TakeOp", "few", "b"},
    {"@copy", 2, 19, "declared by graph.SubGraphOp", "copy", "a b"},
    {"!row", 5, 1, "!row = tensor<[1, $S, 4], Float32, CPU>", "row", "same"},
    {"!same", 2, 2, "!same = tensor<[1, $S, 4], Float32, CPU>", "same", "row"},
    {"#spec", 2, 3, "#spec = QuantSpec(SymPerTensor", "spec", "a.b"},
    {"^next", 2, 26, "^next(%b:!row)", "next", "last"},
    {"$S", 6, 18, "extent, line 18", "S", "1"},
    {"$E", 3, 8, "$E", "E", "K"},
    {"$K", 2, 9, "variable of the declaration", "K", "E"},
    {"k:2", 5, 8, "k: integer", "k", "K"},
    {"npu.tile", 3, 6, "Rows of a tile.", "tile", "LoadOp"},
    {"npu.layout", 2, 7, "order: string", "layout", "tile"},
    {"npu.TakeOp", 2, 8, "npu.TakeOp (1 operand) -> (1 result)", "TakeOp", "LoadOp"},
};

/// The place inside a word, behind its last dot or sigil.
Json place_in(const std::string& text, const Row& row) {
  std::size_t at = text.rfind(row.word);
  REQUIRE(at != text.npos);
  at += row.word.rfind(row.name);
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const auto start = text.rfind('\n', at) + 1;
  return {{"line", line}, {"character", at - start}};
}

Json ask(LspClient& client, const std::string& method, const Json& at,
         const Json& parts = Json::object()) {
  return client.at(method, at["line"], at["character"], parts);
}

}  // namespace

TEST_SUITE("names") {
  TEST_CASE("the text with every kind of name has no findings") {
    LspClient client;
    client.open(kNames);
    CHECK(client.diagnostics() == Json::array());
  }

  TEST_CASE("every kind has a definition, references, highlights and a hover text") {
    LspClient client;
    client.open(kNames);
    for (const Row& row : kRows) {
      CAPTURE(row.word);
      const Json at = place_in(kNames, row);
      const Json context = {{"context", {{"includeDeclaration", true}}}};
      const Json places = ask(client, "references", at, context);
      CHECK(places.size() == row.mentions);
      for (const Json& each : places) {
        CHECK(text_of(kNames, each["range"]).find(row.name) != std::string::npos);
      }
      CHECK(ask(client, "documentHighlight", at).size() == row.mentions);
      CHECK(ask(client, "references", at).size() < row.mentions);
      const Json definition = ask(client, "definition", at);
      REQUIRE(definition.size() == 1);
      CHECK(definition[0]["range"]["start"]["line"].get<std::size_t>() == row.declared - 1);
      const Json hover = ask(client, "hover", at);
      REQUIRE(hover.is_object());
      const std::string text = hover["contents"]["value"];
      CHECK_MESSAGE(text.find(row.hover) != text.npos, text);
    }
  }

  TEST_CASE("every kind is renamed at all places, and the text means the same") {
    LspClient client;
    client.open(kNames);
    for (const Row& row : kRows) {
      CAPTURE(row.word);
      const Json at = place_in(kNames, row);
      const Json prepared = ask(client, "prepareRename", at);
      REQUIRE(prepared.is_object());
      CHECK(prepared["placeholder"].get<std::string>() == row.name);
      CHECK(ask(client, "rename", at, {{"newName", row.taken}}).contains("code"));
      const Json edit = ask(client, "rename", at, {{"newName", "fresh_1"}});
      REQUIRE(edit.contains("changes"));
      const Json edits = edit["changes"][mir::test::kUri];
      CHECK(edits.size() == row.mentions);
      const std::string text = edited(kNames, edits);
      LspClient renamed;
      renamed.open(text);
      const Json findings = renamed.diagnostics();
      CHECK_MESSAGE(findings == Json::array(), findings.dump());
      Row other = row;
      other.word.replace(other.word.rfind(row.name), row.name.size(), "fresh_1");
      other.name = "fresh_1";
      const Json back = ask(renamed, "rename", place_in(text, other), {{"newName", row.name}});
      REQUIRE(back.contains("changes"));
      CHECK(edited(text, back["changes"][mir::test::kUri]) == kNames);
    }
  }

  TEST_CASE("a port is found at its place, and renamed alone") {
    const std::string text =
        "@main [mir_version:2] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>, "
        "%y:tensor<[2], Float32, CPU>[logits]) {\n"
        "    linalg.CPU.NegOp(%x) -> (%y:tensor<[2], Float32, CPU>)\n"
        "    cf.ReturnOp (%y, %y) -> ()\n"
        "}\n";
    LspClient client;
    client.open(text);
    CHECK(client.diagnostics() == Json::array());
    const Json at = {{"line", 0}, {"character", text.find("logits") + 2}};
    const std::string hover = ask(client, "hover", at)["contents"]["value"];
    CHECK_MESSAGE(hover.starts_with("port logits of %y"), hover);
    CHECK(ask(client, "definition", at).size() == 1);
    const Json edit = ask(client, "rename", at, {{"newName", "scores.0"}});
    REQUIRE(edit.contains("changes"));
    std::string wanted = text;
    CHECK(edited(text, edit["changes"][mir::test::kUri]) ==
          wanted.replace(text.find("logits"), 6, "scores.0"));
    CHECK(ask(client, "rename", at, {{"newName", "a b"}}).contains("code"));
    // The value gets another name, the port stays.
    const Json value = {
        {"line", 1}, {"character", text.find("(%y:tensor", text.find('\n')) - text.find('\n') + 1}};
    const Json renamed = ask(client, "rename", value, {{"newName", "z"}});
    REQUIRE(renamed.contains("changes"));
    const std::string after = edited(text, renamed["changes"][mir::test::kUri]);
    CHECK(after.find("%z:tensor<[2], Float32, CPU>[logits]") != after.npos);
    CHECK(after.find("%y") == after.npos);
  }

  TEST_CASE("every kind is completed behind its sigil") {
    const auto offered = [](const std::string& before) {
      std::string text = kNames;
      text.insert(text.rfind("    cf.ReturnOp"), before);
      LspClient client;
      client.open(text);
      const std::size_t at = text.rfind("    cf.ReturnOp");
      const auto line =
          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      const Json list = client.at("completion", static_cast<int>(line),
                                  static_cast<int>(at - text.rfind('\n', at) - 1));
      std::set<std::string> labels;
      for (const Json& each : list["items"]) labels.insert(each["label"]);
      return labels;
    };
    const auto has = [](const std::set<std::string>& labels,
                        std::initializer_list<const char*> wanted) {
      for (const char* each : wanted) CHECK_MESSAGE(labels.contains(each), each);
      return !labels.empty();
    };
    CHECK(has(offered("    a.B (%"), {"%b", "%t", "%few"}));
    CHECK(has(offered("    a.B () -> (%n:!"), {"!row", "!same"}));
    CHECK(has(offered("    a.B () -> (%n:"), {"!row", "!same"}));
    CHECK(has(offered("    a.B () -> (%n:!ro"), {"!row"}));
    CHECK(has(offered("    a.B [q:#"), {"#spec"}));
    CHECK(has(offered("    cf.BranchOp () -> () [^"), {"^next", "^last"}));
    CHECK(has(offered("    a.B () -> (%n:tensor<[1, $"), {"$S"}));
    CHECK(has(offered("    a.B [extent:4*$"), {"$S"}));
    CHECK(has(offered("    graph.CallGraphOp @"), {"@copy"}));
    CHECK(has(offered("    npu."), {"npu.TakeOp", "npu.LoadOp"}));
    CHECK(has(offered("    a.B () -> (%n:!"), {"!npu.tile"}));
    CHECK(has(offered("    a.B [q:#"), {"#npu.layout"}));
    CHECK(!offered("    a.B () -> (%n:tensor<[1, $").contains("$E"));
  }

  TEST_CASE("aliases are symbols of the document, in the order of the text") {
    for (const bool hierarchical : {false, true}) {
      CAPTURE(hierarchical);
      LspClient client(
          Json{{"textDocument",
                {{"documentSymbol", {{"hierarchicalDocumentSymbolSupport", hierarchical}}}}}});
      client.open(kNames);
      std::vector<std::string> names;
      for (const Json& each : client.of("documentSymbol")) names.push_back(each["name"]);
      REQUIRE(names.size() >= 5);
      names.resize(4);
      CHECK(names == std::vector<std::string>{"!row", "!same", "#spec", "@npu"});
      CHECK(client.request("workspace/symbol", {{"query", "!sa"}}).size() == 1);
    }
  }

  TEST_CASE("names are found in a text with mistakes elsewhere") {
    std::string text = kNames;
    text.replace(text.find("npu.LoadOp (%few)"), 17, "npu.LoadOp (%few");
    text.replace(text.find("<rows>"), 6, "<rows");
    LspClient client;
    client.open(text);
    for (const Row& row : kRows) {
      if (row.name == "TakeOp" || row.name == "layout" || row.name == "few" || row.name == "spec")
        continue;
      CAPTURE(row.word);
      const Json places = ask(client, "references", place_in(text, row),
                              {{"context", {{"includeDeclaration", true}}}});
      CHECK(places.size() + 1 >= row.mentions);
    }
  }

  TEST_CASE("blocks of one name in two regions are two blocks") {
    const std::string body =
        "        () -> () {\n            cf.BranchOp () -> () [^go]\n        ^go:\n"
        "            cf.ReturnOp () -> ()\n        }\n    }\n";
    const std::string text = "@main [mir_version:2] () -> () {\n    graph.SubGraphOp @a <CPU> {\n" +
                             body + "    graph.SubGraphOp @b <CPU> {\n" + body + "}\n";
    LspClient client;
    client.open(text);
    const Json context = {{"context", {{"includeDeclaration", true}}}};
    const Json places = client.at("references", 11, 9, context);
    REQUIRE(places.size() == 2);
    CHECK(places[0]["range"]["start"]["line"].get<int>() == 10);
  }

  TEST_CASE("conditions of patterns are renamed with their values and variables") {
    const std::string text =
        "@merge [mir_version:1] () -> () {\n"
        "    pattern.RewriteOp @neg [claim:bits, where:[\"users(%y) == 1\", \"$n > 1\"]] {\n"
        "        (%x:tensor<[$n], T, D>) -> (%z) {\n"
        "            linalg.D.NegOp(%x) -> (%y)\n"
        "            linalg.D.NegOp(%y) -> (%z)\n"
        "            cf.ReturnOp (%z) -> ()\n        }\n"
        "        (%x) -> (%x) {\n            cf.ReturnOp (%x) -> ()\n        }\n    }\n}\n";
    LspClient client;
    client.open(text);
    const auto renamed = [&](int line, int column) {
      const Json edit = client.at("rename", line, column, {{"newName", "other"}});
      REQUIRE(edit.contains("changes"));
      return edited(text, edit["changes"][mir::test::kUri]);
    };
    CHECK(renamed(3, 36).find("users(%other) == 1") != std::string::npos);
    CHECK(renamed(2, 21).find("\"$other > 1\"") != std::string::npos);
  }
}

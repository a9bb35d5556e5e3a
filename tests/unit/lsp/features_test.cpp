#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "client.hpp"

using namespace mir;
using mir::test::edited;
using mir::test::Json;
using mir::test::kUri;
using mir::test::LspClient;
using mir::test::text_of;

namespace {

const std::string kT = ":tensor<[2, 4], Float32, CPU>";

/// Two graphs and calls of them.
const std::string kWhole =
    "// first\n"
    "// second\n"
    "@main [mir_version:1] (%in" +
    kT + ") -> (%out" + kT +
    ") {\n"
    "  graph.SubGraphOp @first <CPU> [symbol:first] {\n"
    "    (%a" +
    kT + ") -> (%r" + kT +
    ") {\n"
    "      linalg.CPU.ReLUOp (%a) -> (%m)\n"
    "      linalg.CPU.AddOp (%m, %a) -> (%r)\n"
    "      cf.ReturnOp (%r) -> ()\n"
    "    }\n"
    "  }\n"
    "  graph.SubGraphOp @second <CPU> {\n"
    "    (%a" +
    kT + ") -> (%r" + kT +
    ") {\n"
    "      graph.CallGraphOp @first (%a) -> (%r)\n"
    "      cf.ReturnOp (%r) -> ()\n"
    "    }\n"
    "  }\n"
    "  graph.CallGraphOp @second (%in) -> (%t)\n"
    "  linalg.CPU.SoftmaxOp [axis:-1] (%t) -> (%out)\n"
    "  cf.ReturnOp (%out) -> ()\n"
    "}\n";

/// The same with an op that cannot be read in the first graph, and a head in the second.
std::string broken() {
  std::string text = kWhole;
  text.replace(text.find("(%m, %a)"), 8, "(%m, %a");
  text.replace(text.find("@second <CPU> {"), 15, "@second <CPU {");
  return text;
}

struct Place {
  int line, column;
};

/// Where a word begins the n-th time.
Place place_of(const std::string& text, std::string_view word, int n = 0) {
  std::size_t at = text.find(word);
  for (; n > 0; --n) at = text.find(word, at + 1);
  REQUIRE(at != text.npos);
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const auto start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return {static_cast<int>(line), static_cast<int>(at - (start == text.npos ? 0 : start + 1))};
}

Json ask(LspClient& client, const std::string& method, Place at,
         const Json& parts = Json::object()) {
  return client.at(method, at.line, at.column, parts);
}

std::set<std::string> labels(const Json& completion) {
  std::set<std::string> names;
  for (const Json& each : completion["items"]) names.insert(each["label"]);
  return names;
}

const Json kMarkdown = {{"textDocument",
                         {{"hover", {{"contentFormat", {"markdown", "plaintext"}}}},
                          {"documentSymbol", {{"hierarchicalDocumentSymbolSupport", true}}},
                          {"publishDiagnostics", {{"relatedInformation", true}}},
                          {"rename", {{"prepareSupport", true}}}}},
                        {"workspace", {{"workspaceEdit", {{"documentChanges", true}}}}}};

}  // namespace

TEST_SUITE("features") {
  TEST_CASE("a text without mistakes has no findings") {
    LspClient client;
    client.open(kWhole);
    CHECK(client.diagnostics() == Json::array());
  }

  TEST_CASE("hover says the type, the bytes, the definition and the uses of a value") {
    LspClient client(kMarkdown);
    client.open(kWhole);
    const std::string of_m = ask(client, "hover", place_of(kWhole, "%m", 1))["contents"]["value"];
    CHECK(of_m.starts_with("`%m: tensor<[2, 4], Float32, CPU>`, 32 bytes\n"));
    CHECK(of_m.find("result 0 of `linalg.CPU.ReLUOp`, line 6") != of_m.npos);
    CHECK(of_m.find("used once") != of_m.npos);
    const std::string of_a = ask(client, "hover", place_of(kWhole, "%a"))["contents"]["value"];
    CHECK(of_a.find("argument of `graph.SubGraphOp`, line 5") != of_a.npos);
    CHECK(of_a.find("used 2 times") != of_a.npos);
    const std::string of_op =
        ask(client, "hover", place_of(kWhole, "linalg.CPU.SoftmaxOp"))["contents"]["value"];
    CHECK(of_op.starts_with("`linalg.CPU.SoftmaxOp (1 operand) -> (1 result)`"));
    CHECK(of_op.find("axis: integer") != of_op.npos);
    const std::string of_key = ask(client, "hover", place_of(kWhole, "axis"))["contents"]["value"];
    CHECK(of_key.starts_with("`axis: integer"));
    const std::string of_graph =
        ask(client, "hover", place_of(kWhole, "@first", 1))["contents"]["value"];
    CHECK(of_graph.find("declared by `graph.SubGraphOp`, line 4") != of_graph.npos);
    CHECK(ask(client, "hover", {0, 4}) == nullptr);
  }

  TEST_CASE("definition, references and highlights agree, in broken text too") {
    for (const std::string& text : {kWhole, broken()}) {
      LspClient client(kMarkdown);
      client.open(text);
      Json found = ask(client, "definition", place_of(text, "%t)", 1));
      REQUIRE(found.size() == 1);
      CHECK(found[0]["range"]["start"]["line"] == place_of(text, "(%t)").line);
      found = ask(client, "references", place_of(text, "@first", 1),
                  {{"context", {{"includeDeclaration", true}}}});
      REQUIRE(found.size() == 3);
      for (const Json& each : found) CHECK(text_of(text, each["range"]) == "first");
      found = ask(client, "references", place_of(text, "%in"),
                  {{"context", {{"includeDeclaration", false}}}});
      CHECK(found.size() == 1);
      found = ask(client, "documentHighlight", place_of(text, "%a"));
      CHECK(found.size() == 3);
      CHECK(std::ranges::count_if(found, [](const Json& each) { return each["kind"] == 3; }) == 1);
    }
  }

  TEST_CASE("rename changes every mention of a value or symbol, and nothing else") {
    LspClient client(kMarkdown);
    client.open(kWhole);
    const auto renamed = [&](Place at, const std::string& name) {
      const Json edit = ask(client, "rename", at, {{"newName", name}});
      CHECK(edit["documentChanges"][0]["textDocument"]["version"] == 1);
      return edited(kWhole, edit["documentChanges"][0]["edits"]);
    };
    const Json prepared = ask(client, "prepareRename", place_of(kWhole, "%m"));
    CHECK(prepared["placeholder"] == "m");
    std::string expected = kWhole;
    for (std::size_t at; (at = expected.find("%m")) != expected.npos;) {
      expected.replace(at, 2, "%sum");
    }
    CHECK(renamed(place_of(kWhole, "%m", 1), "sum") == expected);
    CHECK(renamed(place_of(kWhole, "%m", 1), "%sum") == expected);
    expected = kWhole;
    for (std::size_t at; (at = expected.find("@first")) != expected.npos;) {
      expected.replace(at, 6, "@other");
    }
    expected.replace(expected.find("symbol:first"), 12, "symbol:other");
    CHECK(renamed(place_of(kWhole, "@first", 1), "other") == expected);
    for (const char* name : {"a", "in", "", "x y", "%", "r"}) {
      CAPTURE(name);
      const bool is_outer = std::string(name) == "in";
      const Json answer = ask(client, "rename", place_of(kWhole, "%m"), {{"newName", name}});
      CHECK((answer.contains("code") || is_outer));
    }
    CHECK(ask(client, "rename", place_of(kWhole, "@first"), {{"newName", "second"}})
              .contains("code"));
    CHECK(ask(client, "prepareRename", {0, 0}) == nullptr);
  }

  TEST_CASE("a parameter that an op finds by its own name keeps the ending of its name") {
    const std::string text = "@main [mir_version:1] (%x" + kT + ") -> (%y" + kT +
                             ") {\n"
                             "  graph.SubGraphOp @init <notype> {\n"
                             "    () -> () {\n"
                             "      tensor.CPU.register () -> (%w" +
                             kT + "[@fc.weight])[symbol:fc.weight]\n" +
                             "      tensor.CPU.register () -> (%s" + kT +
                             "[@fc.scale])[symbol:fc.scale]\n"
                             "    }\n"
                             "  }\n"
                             "  linalg.CPU.LinearOp <name=\"fc\"> [bias:false] (%x) -> (%z)\n"
                             "  linalg.CPU.MulOp (%z, %s" +
                             kT + "[@fc.scale]) -> (%y)\n  cf.ReturnOp (%y) -> ()\n}\n";
    LspClient client;
    client.open(text);
    const auto renamed = [&](std::string_view symbol) {
      return ask(client, "rename", place_of(text, symbol), {{"newName", "other"}});
    };
    const Json refused = renamed("@fc.weight");
    REQUIRE(refused.contains("code"));
    CHECK(refused["message"] ==
          "'@fc.weight' belongs to layer 'fc', so its name must end in '.weight'");
    CHECK(!renamed("@fc.scale").contains("code"));
  }

  TEST_CASE("a storage of a dump is renamed as a whole, and no op of the toolkit is") {
    const std::string dump =
        "@main () -> () {\n"
        "    graph.SubGraphOp @init <notype> {\n"
        "        (%0:tensor<[2, 3], Float32, CPU>) -> (%2:tensor<[3, 2], Float32, CPU>) {\n"
        "            .TransposeOp [dim0:0, dim1:1] (%0) -> (%1:tensor<[3, 2], Float32, CPU>)\n"
        "            .ViewOp [to_shape:[3, 2]] (%1) -> (%1:tensor<[3, 2], Float32, CPU>)\n"
        "            .AbsOp(%1) -> (%2)\n"
        "            cf.ReturnOp (%2) -> ()\n"
        "        }\n"
        "    }\n"
        "}\n";
    LspClient client(kMarkdown);
    client.open(dump);
    const Json edits = ask(client, "rename", place_of(dump, "%1", 3), {{"newName", "9"}});
    std::string expected = dump;
    for (std::size_t at; (at = expected.find("%1")) != expected.npos;)
      expected.replace(at, 2, "%9");
    CHECK(edited(dump, edits["documentChanges"][0]["edits"]) == expected);
    CHECK(ask(client, "rename", place_of(dump, "%1"), {{"newName", "2"}}).contains("code"));
    for (const char* fixed : {"TransposeOp", "init"}) {
      CAPTURE(fixed);
      CHECK(ask(client, "prepareRename", place_of(dump, fixed)) == nullptr);
      CHECK(ask(client, "rename", place_of(dump, fixed), {{"newName", "z"}}).contains("code"));
    }
  }

  TEST_CASE("names that begin with that of a graph stay when the graph is renamed") {
    const std::string text =
        "#q = QuantSpec(Raw(type: Float32))\n"
        "@main [mir_version:2] (%x:tensor<[1, 2], Float32, CPU>) -> (%y:tensor<[1, 2], Float32, "
        "CPU>) {\n"
        "  graph.SubGraphOp @init <notype> {\n"
        "    () -> () {\n"
        "      .register () -> (%w:tensor<[2, 2], Float32, CPU>[@g.p.weight][#q(3)])\n"
        "    }\n"
        "  }\n"
        "  graph.SubGraphOp @g <CPU> {\n"
        "    (%a:tensor<[1, 2], Float32, CPU>) -> (%b:tensor<[1, 2], Float32, CPU>) {\n"
        "      .LinearOp <.p> [in_channels:2, out_channels:2, bias:false] (%a) -> (%b)\n"
        "      cf.ReturnOp (%b) -> ()\n"
        "    }\n"
        "  }\n"
        "  graph.CallGraphOp @g (%x) -> (%y)\n"
        "  cf.ReturnOp (%y) -> ()\n"
        "}\n";
    LspClient client;
    client.open(text);
    CHECK(client.diagnostics() == Json::array());
    const auto renamed = [&](std::string_view word, const std::string& name) {
      const Json edit = ask(client, "rename", place_of(text, word), {{"newName", name}});
      REQUIRE_MESSAGE(edit.contains("changes"), edit.dump());
      return edited(text, edit["changes"][mir::test::kUri]);
    };
    const std::string after = renamed("@g <CPU>", "h");
    CHECK(after == mir::test::Part{"graph.SubGraphOp @h <CPU> {"});
    CHECK(after == mir::test::Part{"graph.CallGraphOp @h (%x)"});
    CHECK(after == mir::test::Part{".LinearOp <name=\"g.p\"> [in_channels:2"});
    LspClient again;
    again.open(after);
    CHECK(again.diagnostics() == Json::array());
    // The alias is renamed in front of its number.
    const std::string numbered = renamed("#q = ", "recipe");
    CHECK(numbered == mir::test::Part{"#recipe = QuantSpec("});
    CHECK(numbered == mir::test::Part{"[#recipe(3)]"});
    // The parameter has the name that the op looks for.
    const Json refused =
        ask(client, "rename", place_of(text, "@g.p.weight"), {{"newName", "other"}});
    REQUIRE(refused.contains("code"));
    CHECK(refused["message"] ==
          "'@g.p.weight' belongs to layer 'g.p', so its name must end in '.weight'");
    const std::string hover =
        ask(client, "hover", place_of(text, ".LinearOp"))["contents"]["value"];
    CHECK_MESSAGE(hover.find("operand") != hover.npos, hover);
  }

  TEST_CASE("symbols are the modules and the graphs in them, in broken text too") {
    for (const std::string& text : {kWhole, broken()}) {
      LspClient client(kMarkdown);
      client.open(text);
      const Json symbols = client.of("documentSymbol");
      REQUIRE(symbols.size() == 1);
      CHECK(symbols[0]["name"] == "@main");
      REQUIRE(symbols[0]["children"].size() == 2);
      CHECK(symbols[0]["children"][0]["name"] == "@first");
      CHECK(symbols[0]["children"][1]["name"] == "@second");
      const Json found = client.request("workspace/symbol", {{"query", "SEC"}});
      REQUIRE(found.size() == 1);
      CHECK(found[0]["name"] == "@second");
    }
    LspClient old;
    old.open(kWhole);
    CHECK(old.of("documentSymbol").size() == 3);
    CHECK(old.of("documentSymbol")[0].contains("location"));
  }

  TEST_CASE("completion offers values in scope, symbols, ops, attributes and choices") {
    LspClient client(kMarkdown);
    client.open(kWhole);
    Place at = place_of(kWhole, "%m, %a");
    auto names = labels(client.at("completion", at.line, at.column + 1));
    CHECK(names == std::set<std::string>{"%a", "%m"});
    at = place_of(kWhole, "%out) -> ()");
    names = labels(client.at("completion", at.line, at.column + 1));
    CHECK(names == std::set<std::string>{"%in", "%t", "%out"});
    at = place_of(kWhole, "@second (");
    names = labels(client.at("completion", at.line, at.column + 2));
    CHECK(names == std::set<std::string>{"@first", "@second"});
    at = place_of(kWhole, "axis:");
    names = labels(client.at("completion", at.line, at.column));
    CHECK(names.contains("axis"));
    CHECK(!names.contains("%t"));
    at = place_of(kWhole, "linalg.CPU.SoftmaxOp");
    Json offered = client.at("completion", at.line, at.column + 10);
    CHECK(labels(offered).contains("linalg.CPU.ReLUOp"));
    CHECK(text_of(kWhole, offered["items"][0]["textEdit"]["range"]) == "linalg.CPU");
    // While a line is being typed, which cannot be read.
    for (const char* typed : {"  lin", "  linalg.CPU.AddOp (%", "  linalg.CPU.SoftmaxOp [a"}) {
      CAPTURE(typed);
      std::string text = kWhole;
      const Place line = place_of(text, "  linalg.CPU.SoftmaxOp");
      text.insert(text.find("  linalg.CPU.SoftmaxOp"), std::string(typed) + "\n");
      LspClient typing(kMarkdown);
      typing.open(text);
      names =
          labels(typing.at("completion", line.line, static_cast<int>(std::string(typed).size())));
      const std::string word(typed);
      CHECK(names.contains(word.ends_with('%')   ? "%in"
                           : word.ends_with('a') ? "axis"
                                                 : "linalg.CPU.AddOp"));
    }
  }

  TEST_CASE("values that an op can take come first, and alone if it takes one type") {
    const std::string text = R"(!rows = tensor<[2, 4], Float32, CPU>
@main [mir_version:2] (%a:!rows) -> (%d) {
  graph.SubGraphOp @f <CPU> {
    (%p:!rows, %q:tensor<[3], Float32, CPU>) -> (%r) {
      linalg.CPU.AddOp (%p, %p) -> (%r)
      cf.ReturnOp (%r) -> ()
    }
  }
  linalg.CPU.ReLUOp (%a) -> (%b)
  linalg.CPU.ReduceSumOp [dim:0] (%b) -> (%row)
  linalg.CPU.IotaOp [shape:[3], dtype:Float32, dim:0] () -> (%long)
  linalg.CPU.AddOp (%a, %row) -> (%c)
  graph.CallGraphOp @f (%c, %long) -> (%d)
  cf.ReturnOp (%d) -> ()
}
)";
    LspClient client(kMarkdown);
    client.open(text);
    // In the order of the client.
    const auto offered = [&](std::string_view word) {
      const Place at = place_of(text, word);
      Json items = client.at("completion", at.line, at.column + 1)["items"];
      std::sort(items.begin(), items.end(), [](const Json& a, const Json& b) {
        return a["sortText"].get<std::string>() < b["sortText"].get<std::string>();
      });
      std::vector<std::string> names;
      for (const Json& each : items) {
        CHECK(each.contains("detail"));
        names.push_back(each["label"]);
      }
      return names;
    };
    using Names = std::vector<std::string>;
    CHECK(offered("%b) -> (%row)") == Names{"%b", "%a"});
    CHECK(offered("%row) -> (%c)") == Names{"%row", "%b", "%a", "%long"});
    CHECK(offered("%a, %row)") == Names{"%row", "%b", "%a", "%long"});
    CHECK(offered("%c, %long)") == Names{"%c", "%b", "%a"});
    CHECK(offered("%long) -> (%d)") == Names{"%long"});
  }

  TEST_CASE("attributes that an op has are not offered again") {
    const std::string text = "@main [mir_version:1] (%a" + kT + ") -> (%b" + kT +
                             ") {\n  linalg.CPU.SoftmaxOp [axis:1, " +
                             "quant_recipe:1] (%a) -> (%b)\n  cf.ReturnOp (%b) -> ()\n}\n";
    LspClient client(kMarkdown);
    client.open(text);
    const Place other = place_of(text, "quant_recipe");
    auto names = labels(client.at("completion", other.line, other.column));
    CHECK(!names.contains("axis"));
    CHECK(names.contains("quant_recipe"));  // which is being typed
    const Place axis = place_of(text, "axis");
    names = labels(client.at("completion", axis.line, axis.column));
    CHECK(names.contains("axis"));
    CHECK(!names.contains("quant_recipe"));
  }

  TEST_CASE("completion knows comments, pipelines in RUN lines, and graphs that can be called") {
    const std::string text =
        "// linalg.C\n"
        "// RUN: mllm-opt -p simplify,cano %s\n"
        "// RUN: mllm-opt --passes=cs\n" +
        kWhole;
    const auto offered = [&](std::string_view before) {
      LspClient client;
      client.open(text);
      const Place at = place_of(text, before);
      return labels(client.at("completion", at.line, at.column + static_cast<int>(before.size())));
    };
    CHECK(offered("// linalg.C").empty());
    CHECK(offered("// RUN: mllm-opt").empty());
    CHECK(offered("cano %s").empty());
    for (const char* place : {"-p simplify,cano", "--passes=cs"}) {
      const auto names = offered(place);
      CHECK(names.contains("canonicalize"));
      CHECK(names.contains("cse"));
      CHECK(!names.contains("linalg.CPU.ReLUOp"));
    }
    CHECK(offered("CallGraphOp @") == std::set<std::string>{"@first", "@second"});
  }

  TEST_CASE("signature help counts the operands before the place") {
    LspClient client;
    client.open(kWhole);
    const Place at = place_of(kWhole, "%m, %a");
    const Json first = client.at("signatureHelp", at.line, at.column);
    CHECK(first["activeParameter"] == 0);
    CHECK(first["signatures"][0]["label"] == "linalg.CPU.AddOp (a, b)");
    CHECK(client.at("signatureHelp", at.line, at.column + 5)["activeParameter"] == 1);
    CHECK(ask(client, "signatureHelp", {0, 0}) == nullptr);
  }

  TEST_CASE("semantic tokens are in order and cover whole words, in broken text too") {
    for (const std::string& text : {kWhole, broken()}) {
      LspClient client;
      client.open(text);
      const Json data = client.of("semanticTokens/full")["data"];
      REQUIRE(data.size() % 5 == 0);
      int line = 0, column = 0, end = 0;
      std::set<std::string> ops;
      for (std::size_t i = 0; i < data.size(); i += 5) {
        const int lines = data[i];
        if (lines != 0) column = end = 0;
        line += lines;
        column += data[i + 1].get<int>();
        REQUIRE(column >= end);
        end = column + data[i + 2].get<int>();
        const Json range = {{"start", {{"line", line}, {"character", column}}},
                            {"end", {{"line", line}, {"character", end}}}};
        const std::string word = text_of(text, range);
        REQUIRE(word.find('\n') == word.npos);
        if (data[i + 3] == 1) ops.insert(word);
      }
      CHECK(ops == std::set<std::string>{"graph.SubGraphOp", "linalg.CPU.ReLUOp",
                                         "linalg.CPU.AddOp", "cf.ReturnOp", "graph.CallGraphOp",
                                         "linalg.CPU.SoftmaxOp"});
      const Json part =
          client.of("semanticTokens/range", {{"range",
                                              {{"start", {{"line", 5}, {"character", 0}}},
                                               {"end", {{"line", 6}, {"character", 0}}}}}});
      CHECK(part["data"].size() == 5 * 4);
      CHECK(part["data"][0] == 5);
    }
  }

  TEST_CASE("bodies and runs of comments fold, and selections grow from word to file") {
    LspClient client;
    client.open(kWhole);
    const Json folds = client.of("foldingRange");
    const auto has = [&](int first, int last) {
      return std::ranges::any_of(folds, [&](const Json& each) {
        return each["startLine"] == first && each["endLine"] == last;
      });
    };
    CHECK(has(0, 1));
    CHECK(has(2, 18));
    CHECK(has(3, 8));
    // A run of comments ends with the text, or with the first other line.
    for (const auto& [last_lines, count] :
         {std::pair("// a\n// b", 1), std::pair("// a\n// b\n", 1),
          std::pair("// a\n// b\n// c\n\n// d", 2), std::pair("// a", 0)}) {
      const std::string end = last_lines;
      CAPTURE(end);
      LspClient ending;
      ending.open(kWhole + end);
      const int first = place_of(kWhole + end, "// a").line;
      const Json all = ending.of("foldingRange");
      const auto found =
          std::ranges::find(all, Json(first), [](const Json& each) { return each["startLine"]; });
      if (count == 0) {
        CHECK(found == all.end());
      } else {
        REQUIRE(found != all.end());
        CHECK((*found)["endLine"] == first + count);
        CHECK((*found)["kind"] == "comment");
      }
    }
    const Place at = place_of(kWhole, "%m, %a");
    Json range = client.of("selectionRange",
                           {{"positions", {{{"line", at.line}, {"character", at.column + 1}}}}})[0];
    std::vector<std::string> words;
    for (; !range.is_null(); range = range.value("parent", Json())) {
      words.push_back(text_of(kWhole, range["range"]));
    }
    REQUIRE(words.size() >= 4);
    CHECK(words[0] == "%m");
    CHECK(words[1] == "linalg.CPU.AddOp (%m, %a) -> (%r)");
    CHECK(words.back() == kWhole);
    for (std::size_t i = 1; i < words.size(); ++i) {
      CHECK(words[i].find(words[i - 1]) != std::string::npos);
    }
  }

  TEST_CASE("inlay hints show types that are left out") {
    LspClient client;
    client.open(kWhole);
    const Json hints = client.of(
        "inlayHint",
        {{"range",
          {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 7}, {"character", 0}}}}}});
    REQUIRE(hints.size() == 2);
    CHECK(hints[0]["label"] == kT);
    CHECK(hints[0]["position"]["line"] == place_of(kWhole, "(%m)").line);
  }

  TEST_CASE("formatting gives the canonical layout, of a range only its lines") {
    std::string text = kWhole;
    text.replace(text.find("      linalg.CPU.ReLUOp"), 6, "  ");
    text.replace(text.find("  linalg.CPU.SoftmaxOp"), 2, "      ");
    LspClient client;
    client.open(kWhole);
    const std::string canonical = edited(kWhole, client.of("formatting"));
    LspClient other;
    other.open(text);
    CHECK(edited(text, other.of("formatting")) == canonical);
    const int line = place_of(text, "linalg.CPU.ReLUOp").line;
    const std::string part = edited(
        text, other.of("rangeFormatting", {{"range",
                                            {{"start", {{"line", line}, {"character", 0}}},
                                             {"end", {{"line", line + 1}, {"character", 0}}}}}}));
    CHECK(part.find("      linalg.CPU.SoftmaxOp") != part.npos);
    CHECK(part != text);
  }

  TEST_CASE("text with errors is formatted if only white space changes") {
    for (const char* line : {"words that are no op", "?"}) {
      CAPTURE(line);
      for (const char* space : {"  ", "\t", "\n\n\n", "\r\n", "\n"}) {
        CAPTURE(space);
        std::string text = kWhole;
        text.insert(text.find("      linalg.CPU.AddOp"), "      " + std::string(line) + "\n");
        text.insert(text.find("      linalg.CPU.ReLUOp"), space);
        LspClient client;
        client.open(text);
        const Json edits = client.of("formatting");
        REQUIRE(edits.is_array());  // an object is an error
        const std::string formatted = edited(text, edits);
        CHECK(formatted != text);
        CHECK(formatted == test::Part{std::string("\n            ") + line + "\n"});
      }
    }
  }

  TEST_CASE("every fix of a finding is a code action that repairs it") {
    LspClient client(kMarkdown);
    std::string text = kWhole;
    text.replace(text.find("SoftmaxOp"), 9, "SoftmxOp");
    client.open(text);
    const Json found = client.diagnostics();
    REQUIRE(found.size() == 1);
    const Json actions = client.of(
        "codeAction", {{"range", found[0]["range"]}, {"context", {{"diagnostics", found}}}});
    REQUIRE(actions.size() == 1);
    CHECK(actions[0]["kind"] == "quickfix");
    CHECK(actions[0]["diagnostics"][0]["code"] == found[0]["code"]);
    CHECK(edited(text, actions[0]["edit"]["documentChanges"][0]["edits"]) == kWhole);
    // The signature states the type of the result, so a rewriting of all types is possible.
    for (const Json& each :
         client.of("codeAction", {{"range", found[0]["range"]},
                                  {"context", {{"diagnostics", found}, {"only", {"refactor"}}}}})) {
      CHECK(each["kind"].get<std::string>().starts_with("refactor"));
      CHECK_FALSE(each.contains("diagnostics"));
    }
  }

  TEST_CASE("a name that may be meant is offered, and nothing makes it alone") {
    const std::string good =
        "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {\n"
        "    graph.SubGraphOp @mlp <CPU> {\n"
        "        (%a:tensor<[2], Float32, CPU>) -> (%b:tensor<[2], Float32, CPU>) {\n"
        "            linalg.CPU.ReLUOp(%a) -> (%b)\n            cf.ReturnOp (%b) -> ()\n"
        "        }\n    }\n"
        "    graph.CallGraphOp @mlp (%x) -> (%y)\n    cf.ReturnOp (%y) -> ()\n}\n";
    const std::pair<std::string_view, std::string_view> slips[] = {{"@mlp (%x)", "@mpl (%x)"},
                                                                   {"@mlp (%x)", "@mlp (%xx)"}};
    for (const auto& slip : slips) {
      std::string text = good;
      text.replace(text.find(slip.first), slip.first.size(), slip.second);
      CAPTURE(text);
      LspClient client(kMarkdown);
      client.open(text);
      const Json found = client.diagnostics();
      REQUIRE(found.size() == 1);
      const Json actions =
          client.of("codeAction", {{"range", found[0]["range"]},
                                   {"context", {{"diagnostics", found}, {"only", {"quickfix"}}}}});
      REQUIRE(actions.size() == 1);
      CHECK(actions[0]["isPreferred"] == false);
      CHECK(edited(text, actions[0]["edit"]["documentChanges"][0]["edits"]) == good);
    }
  }

  TEST_CASE("an edit is offered at the finding, where it edits, and to who lists the finding") {
    std::string text = kWhole;
    text.replace(text.find("@second <CPU>"), 13, "@second <CPUU>");
    LspClient client(kMarkdown);
    client.open(text);
    const Json found = client.diagnostics();
    REQUIRE(found.size() == 1);
    const auto offers = [&](const Json& range, const Json& listed) {
      return client
          .of("codeAction",
              {{"range", range}, {"context", {{"diagnostics", listed}, {"only", {"quickfix"}}}}})
          .size();
    };
    const Json elsewhere = {{"start", {{"line", 0}, {"character", 1}}},
                            {"end", {{"line", 0}, {"character", 1}}}};
    CHECK(offers(found[0]["range"], Json::array()) == 1);
    CHECK(offers(elsewhere, Json::array()) == 0);
    CHECK(offers(elsewhere, found) == 1);
    Json other = found;
    other[0]["message"] = "of another tool";
    CHECK(offers(elsewhere, other) == 0);
  }

  TEST_CASE("calls lead from graph to graph") {
    for (const std::string& text : {kWhole, broken()}) {
      LspClient client;
      client.open(text);
      const Json items = ask(client, "prepareCallHierarchy", place_of(text, "@first", 1));
      REQUIRE(items.size() == 1);
      CHECK(items[0]["name"] == "@first");
      const Json callers = client.request("callHierarchy/incomingCalls", {{"item", items[0]}});
      REQUIRE(callers.size() == 1);
      CHECK(callers[0]["from"]["name"] == "@second");
      Json bare = items[0];
      bare["name"] = "first";
      CHECK(client.request("callHierarchy/incomingCalls", {{"item", bare}}) == callers);
      const Json callees =
          client.request("callHierarchy/outgoingCalls", {{"item", callers[0]["from"]}});
      REQUIRE(callees.size() == 1);
      CHECK(callees[0]["to"]["name"] == "@first");
      const Json top =
          client.request("callHierarchy/incomingCalls", {{"item", callers[0]["from"]}});
      CHECK(top[0]["from"]["name"] == "@main");
    }
  }

  TEST_CASE("an edit of a device leaves strings and comments alone") {
    std::string text = kWhole;
    text.replace(text.find("@second <CPU>"), 13, "@second <CPUU>");
    text.insert(text.find("      linalg.CPU.AddOp"),
                "      // docs.CPUU. and <CPUU>\n"
                "      linalg.CPU.NegOp <name=\"m.CPUU.a\"> (%m) -> (%n)\n");
    LspClient client(kMarkdown);
    client.open(text);
    const Json found = client.diagnostics();
    REQUIRE(found.size() == 1);
    const Json actions = client.of(
        "codeAction", {{"range", found[0]["range"]}, {"context", {{"diagnostics", found}}}});
    REQUIRE(actions.size() == 1);
    std::string repaired = text;
    repaired.replace(repaired.find("@second <CPUU>"), 14, "@second <CPU>");
    CHECK(edited(text, actions[0]["edit"]["documentChanges"][0]["edits"]) == repaired);
  }

  TEST_CASE("an attribute is offered where it is missing, in an empty list too") {
    for (const char* list : {"", "[] ", "[dim1:1] "}) {
      CAPTURE(list);
      const std::string text =
          std::string("@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> (%y) {\n") +
          "  linalg.CPU.TransposeOp " + list +
          "(%x) -> (%y:tensor<[3, 2], Float32, CPU>)\n  cf.ReturnOp (%y) -> ()\n}\n";
      LspClient client(kMarkdown);
      client.open(text);
      const Json found = client.diagnostics();
      REQUIRE_FALSE(found.empty());
      const Json actions =
          client.of("codeAction", {{"range", found[0]["range"]},
                                   {"context", {{"diagnostics", found}, {"only", {"quickfix"}}}}});
      REQUIRE_FALSE(actions.empty());
      LspClient after(kMarkdown);
      after.open(edited(text, actions[0]["edit"]["documentChanges"][0]["edits"]));
      const auto missing = [](const Json& findings) {
        return std::ranges::count_if(findings,
                                     [](const Json& each) { return each["code"] == "MIR0409"; });
      };
      const Json left = after.diagnostics();
      CHECK(missing(left) == missing(found) - 1);
      CHECK(left.dump().find("MIR0201") == std::string::npos);
    }
  }

  TEST_CASE("an attribute is offered where the type of a result depends on it") {
    const std::string text =
        "@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> (%y) {\n"
        "  linalg.CPU.TransposeOp [dim1:1] (%x) -> (%y)\n  cf.ReturnOp (%y) -> ()\n}\n";
    LspClient client(kMarkdown);
    client.open(text);
    const Json found = client.diagnostics();
    REQUIRE(found.size() == 1);
    CHECK(found[0]["code"] == "MIR0506");
    const Json actions = client.of(
        "codeAction", {{"range", found[0]["range"]}, {"context", {{"diagnostics", found}}}});
    REQUIRE_FALSE(actions.empty());
    LspClient after(kMarkdown);
    after.open(edited(text, actions[0]["edit"]["documentChanges"][0]["edits"]));
    CHECK(after.diagnostics() == Json::array());
  }

  TEST_CASE("the body of a module is analysed while a graph cannot be read") {
    const auto replaced = [](LspClient& client, std::string& text, const std::string& old,
                             const std::string& now) {
      const Place at = place_of(text, old);
      const Json begin = {{"line", at.line}, {"character", at.column}};
      const Json end = {{"line", at.line}, {"character", at.column + static_cast<int>(old.size())}};
      client.change(Json::array({{{"range", {{"start", begin}, {"end", end}}}, {"text", now}}}));
      text.replace(text.find(old), old.size(), now);
    };
    std::string text =
        "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%z:tensor<[2], Float32, CPU>) {\n"
        "  graph.SubGraphOp @g <CPU> {\n"
        "    (%a:tensor<[2], Float32, CPU>) -> (%b:tensor<[2], Float32, CPU>) {\n"
        "      linalg.CPU.NegOp (%a) -> (%b)\n      cf.ReturnOp (%b) -> ()\n    }\n  }\n"
        "  linalg.CPU.NegOp (%x) -> (%first)\n  linalg.CPU.AbsOp (%first) -> (%second)\n"
        "  graph.CallGraphOp @g (%second) -> (%z)\n  cf.ReturnOp (%z) -> ()\n}\n";
    LspClient client;
    client.open(text);
    CHECK(client.diagnostics().empty());
    replaced(client, text, "NegOp (%a)", "NegOp (%a");
    client.diagnostics();
    replaced(client, text, "-> (%first)", "-> (%renamed)");
    const Json kept = client.diagnostics();
    LspClient fresh;
    fresh.open(text);
    CHECK(kept == fresh.diagnostics());
    CHECK(kept.size() == 2);
  }

  TEST_CASE("calls of one graph by another are one entry with several places") {
    std::string text = kWhole;
    const std::string call = "      graph.CallGraphOp @first (%a) -> (%r)\n";
    text.insert(text.find(call), "      graph.CallGraphOp @first (%a) -> (%q)\n");
    LspClient client;
    client.open(text);
    const Json items = ask(client, "prepareCallHierarchy", place_of(text, "@first", 1));
    const Json callers = client.request("callHierarchy/incomingCalls", {{"item", items[0]}});
    REQUIRE(callers.size() == 1);
    CHECK(callers[0]["fromRanges"].size() == 2);
    const Json callees =
        client.request("callHierarchy/outgoingCalls", {{"item", callers[0]["from"]}});
    REQUIRE(callees.size() == 1);
    CHECK(callees[0]["fromRanges"] == callers[0]["fromRanges"]);
  }

  TEST_CASE("results get names that no value has") {
    const auto offered = [](const std::string& line) {
      std::string text = kWhole;
      text.insert(text.find("      linalg.CPU.AddOp (%m, %a)"), line + "\n");
      LspClient client;
      client.open(text);
      const Place at = place_of(text, line);
      return labels(client.at("completion", at.line, static_cast<int>(line.size())));
    };
    using Names = std::set<std::string>;
    CHECK(offered("      linalg.CPU.SoftmaxOp (%m) -> (%") == Names{"%0", "%softmax"});
    CHECK(offered("      linalg.CPU.LinearOp <name=\"mlp.up\"> (%m) -> (") ==
          Names{"%0", "%mlp.up"});
    CHECK(offered("      linalg.CPU.MOp (%m) -> (%1, %") == Names{"%2", "%m_1"});
    // Operands are values that there are.
    const auto operands = offered("      linalg.CPU.SoftmaxOp (%");
    CHECK_FALSE(operands.contains("%softmax"));
  }

  TEST_CASE("every request is answered at every place of a text that is cut anywhere") {
    const std::string text = broken();
    for (std::size_t cut = 0; cut < text.size(); cut += 7) {
      LspClient client(kMarkdown);
      const std::string part = text.substr(0, cut);
      client.open(part);
      client.diagnostics();
      const int line = static_cast<int>(std::count(part.begin(), part.end(), '\n'));
      const int column = static_cast<int>(part.size() - part.rfind('\n') - 1);
      for (const char* method : {"hover", "definition", "documentHighlight", "completion",
                                 "signatureHelp", "prepareRename", "prepareCallHierarchy"}) {
        CHECK(!client.at(method, line, column).contains("code"));
      }
      for (const char* method : {"documentSymbol", "foldingRange", "semanticTokens/full"}) {
        CHECK(!client.of(method).contains("code"));
      }
      client.of("formatting");
    }
  }
}

// Completions that write whole ops, fresh results, and what is offered inside strings.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "client.hpp"
#include "mir/dialects.hpp"

using namespace mir;
using mir::test::Json;
using mir::test::LspClient;

namespace snippets_test {

namespace {

const Json kSnippets = {
    {"textDocument", {{"completion", {{"completionItem", {{"snippetSupport", true}}}}}}}};

/// The text that a client inserts if the user changes no place.
std::string expanded(const std::string& snippet) {
  std::string text;
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i < snippet.size();) {
    if (snippet[i] == '\\') {
      text += snippet.at(i + 1);
      i += 2;
      continue;
    }
    if (snippet[i] != '$') {
      text += snippet[i++];
      continue;
    }
    REQUIRE(snippet.at(i + 1) == '{');
    const std::size_t end = snippet.find_first_not_of("0123456789", i + 2);
    const std::string number = snippet.substr(i + 2, end - i - 2);
    const char kind = snippet.at(end);
    i = end + 1;
    if (kind == '}') {
      REQUIRE(values.contains(number));
      text += values[number];
      continue;
    }
    REQUIRE((kind == ':' || kind == '|'));
    std::string value;
    bool is_first = true;
    for (; snippet.at(i) != (kind == ':' ? '}' : '|'); ++i) {
      if (kind == '|' && snippet[i] == ',') is_first = false;
      if (snippet[i] == '\\') ++i;
      if (is_first) value += snippet.at(i);
    }
    if (kind == '|') REQUIRE(snippet.at(++i) == '}');
    ++i;
    values[number] = value;
    text += value;
  }
  return text;
}

/// The items at the end of a line of a text; `column` is that of the end unless it is stated.
Json items_at(LspClient& client, const std::string& text, int line) {
  std::size_t begin = 0;
  for (int i = 0; i < line; ++i) begin = text.find('\n', begin) + 1;
  const auto column = static_cast<int>(text.find('\n', begin) - begin);
  return client.at("completion", line, column)["items"];
}

std::set<std::string> labels_of(const Json& items) {
  std::set<std::string> labels;
  for (const Json& each : items) labels.insert(each["label"]);
  return labels;
}

std::string inserted(const Json& items, const std::string& label) {
  for (const Json& each : items) {
    if (each["label"] == label) return each["textEdit"]["newText"];
  }
  FAIL("no item ", label);
  return "";
}

const std::string kPortable =
    "@main [mir_version:2] (%x:tensor<[2, 4], Float32, CPU>) -> (%y:tensor<[2, 4], Float32, CPU>) "
    "{\n"
    "    l\n"
    "    linalg.CPU.ReLUOp (%x) -> (%relu)\n"
    "    cf.ReturnOp (%y) -> ()\n"
    "}\n";

}  // namespace

TEST_SUITE("lsp: snippets") {
  TEST_CASE("an op is completed with operands, attributes with their choices, and fresh results") {
    LspClient client(kSnippets);
    client.open(kPortable);
    const Json items = items_at(client, kPortable, 1);
    CHECK(inserted(items, "linalg.CPU.PadOp") ==
          "linalg.CPU.PadOp [pad:${1:[1, 2]}, mode:${2|reflect,constant,replicate,circular|}] "
          "(%${3:x}) -> (%${4:pad})");
    CHECK(inserted(items, "linalg.CPU.RoPEOp") ==
          "linalg.CPU.RoPEOp [input_type:${1|BHSD,BSHD|}] (%${2:x}, %${3:sin}, %${4:cos}) -> "
          "(%${5:rope})");
    // %relu is taken.
    CHECK(inserted(items, "linalg.CPU.ReLUOp") == "linalg.CPU.ReLUOp(%${1:x}) -> (%${2:relu_1})");
    CHECK(inserted(items, "linalg.CPU.LinearOp").find("bias:${4|true,false|}]") !=
          std::string::npos);
    CHECK(inserted(items, "linalg.CPU.MulOp") ==
          "linalg.CPU.MulOp(%${1:a}, %${2:b}) -> (%${3:mul})");
    CHECK(inserted(items, "linalg.CPU.ViewOp").starts_with("linalg.CPU.ViewOp [to_shape:${1:[1, "));
    CHECK(inserted(items, "cf.CondBranchOp") ==
          "cf.CondBranchOp (%${1:condition}) -> () [^${2:yes}(%${3:x}), ^${4:no}]");
    for (const Json& each : items) CHECK(each["insertTextFormat"] == 2);
  }

  TEST_CASE("a dump has all types, and clients without snippets get names") {
    const std::string dump = "@main () -> () {\n    l\n}\n";
    LspClient client(kSnippets);
    client.open(dump);
    CHECK(inserted(items_at(client, dump, 1), "linalg.CPU.ReLUOp") ==
          "linalg.CPU.ReLUOp(%${1:x}:${2:tensor<[2, 3], Float32, CPU>}) -> "
          "(%${3:relu}:${4:tensor<[2, 3], Float32, CPU>})");
    LspClient plain;
    plain.open(kPortable);
    const Json items = items_at(plain, kPortable, 1);
    CHECK(inserted(items, "linalg.CPU.ReLUOp") == "linalg.CPU.ReLUOp");
    CHECK(!items[0].contains("insertTextFormat"));
  }

  TEST_CASE("before other words of the line only the name is inserted") {
    std::string text = kPortable;
    text.replace(text.find("    l\n"), 6, "    l (%x)\n");
    LspClient client(kSnippets);
    client.open(text);
    CHECK(inserted(client.at("completion", 1, 5)["items"], "linalg.CPU.AddOp") ==
          "linalg.CPU.AddOp");
  }

  TEST_CASE("each snippet is an op that can be read, with all that its row requires") {
    // What depends on values and parameters that are not there, and on the place.
    for (const bool is_portable : {true, false}) {
      CAPTURE(is_portable);
      const std::string head =
          is_portable ? "@main [mir_version:2] () -> () {\n" : "@main () -> () {\n";
      const std::string text = head + "    l\n}\n";
      LspClient client(kSnippets);
      client.open(text);
      const Json items = items_at(client, text, 1);
      REQUIRE(items.size() > 100);
      for (const Json& each : items) {
        const std::string op = expanded(each["textEdit"]["newText"]);
        CAPTURE(op);
        CHECK(op.starts_with(each["label"].get<std::string>()));
        LspClient reader;
        std::string whole = head;
        whole += op + "\n}\n";
        reader.open(whole);
        for (const Json& finding : reader.diagnostics()) {
          const std::string code = finding["code"], message = finding["message"];
          CAPTURE(message);
          const bool is_syntax = code < "MIR0300";
          const bool is_attribute = code == "MIR0408" || code == "MIR0504" || code == "MIR0312";
          CHECK_FALSE((is_syntax || is_attribute ||
                       message.find("needs the attribute") != std::string::npos));
        }
      }
    }
  }

  TEST_CASE("behind an arrow new values are offered, and inside strings only what fits") {
    const auto offered = [](const std::string& typed, int back = 0) {
      std::string text = kPortable;
      text.replace(text.find("    l\n"), 6, typed + "\n");
      LspClient client(kSnippets);
      client.open(text);
      const Json list = client.at("completion", 1, static_cast<int>(typed.size()) - back);
      return labels_of(list["items"]);
    };
    using Names = std::set<std::string>;
    CHECK(offered("    linalg.CPU.ReLUOp (%x) -> ") == Names{"(%relu_1)", "(%0)"});
    CHECK(offered("    linalg.CPU.ReLUOp (%x) -> (") == Names{"%relu_1", "%0"});
    CHECK(offered("    cf.ReturnOp (%x) -> ").empty());
    CHECK(offered("    linalg.CPU.PadOp [mode:\"") ==
          Names{"constant", "reflect", "replicate", "circular"});
    CHECK(offered("    linalg.CPU.PadOp [mode:\"\"] (%x)", 7) ==
          Names{"constant", "reflect", "replicate", "circular"});
    CHECK(offered("    linalg.CPU.EinsumOp [equation:\"").empty());
    CHECK(offered("    linalg.CPU.EinsumOp [equation:\"%").empty());
    CHECK(offered("    linalg.CPU.ReLUOp <name=\"").empty());
    CHECK(offered("    graph.CallGraphOp @\"").empty());
  }

  TEST_CASE("signatures name operands as the pages of ops do") {
    const auto signature = [](const std::string& typed) {
      std::string text = kPortable;
      text.replace(text.find("    l\n"), 6, typed + "\n");
      LspClient client;
      client.open(text);
      const Json help = client.at("signatureHelp", 1, static_cast<int>(typed.size()));
      return help["signatures"][0]["label"].get<std::string>();
    };
    CHECK(signature("    linalg.CPU.RoPEOp (%x, ") == "linalg.CPU.RoPEOp (x, sin, cos)");
    CHECK(signature("    linalg.CPU.WhereOp (") == "linalg.CPU.WhereOp (condition, a, b)");
    CHECK(signature("    linalg.CPU.ConcatOp (") == "linalg.CPU.ConcatOp (x1, x...)");
    CHECK(signature("    linalg.CPU.AddOp (") == "linalg.CPU.AddOp (a, b)");
  }

  TEST_CASE("operands of a declared op have the names of its declaration") {
    const std::string text =
        "@mine [mir_version:2] () -> () {\n"
        "    dialect.OpOp @MixOp {\n"
        "        (%left:tensor<[$n..], T, D>, %right:tensor<[$n..], T, D>) -> "
        "(%y:tensor<[$n..], T, D>) {\n"
        "        }\n    }\n}\n" +
        kPortable;
    LspClient client(kSnippets);
    client.open(text);
    CHECK(inserted(items_at(client, text, 7), "mine.MixOp").find("%${1:left}, %${2:right}") !=
          std::string::npos);
  }
}

}  // namespace snippets_test

// A session in a text with twelve mistakes: each is one error, and requests elsewhere are answered
// as in the text without mistakes.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "client.hpp"

using namespace mir;
using mir::test::Json;
using mir::test::LspClient;

namespace lsp_planted_test {

namespace {

const std::string kSoundText =
    R"(!row = tensor<[2, 4], Float32, CPU>
#spec = QuantSpec(SymPerTensor(quant_min: -128, quant_max: 127), uuid=3)

@main [mir_version:2] (%x:!row, %w:tensor<[8, 4], Float32, CPU>) -> (%y:tensor<[2, 4], Float32, CPU>) {
    graph.SubGraphOp @first <CPU> {
        (%a:!row) -> (%r:!row) {
            linalg.CPU.ReLUOp (%a) -> (%m:tensor<[2, 4], Float32, CPU>)
            linalg.CPU.AddOp (%a, %a) -> (%s)
            linalg.CPU.SoftmaxOp [axis:-1] (%a) -> (%t)
            linalg.CPU.AddOp (%a, %a) -> (%u)
            cf.ReturnOp (%s) -> ()
        }
    }
    graph.SubGraphOp @second <CPU> {
        (%a:!row) -> (%r:!row) {
            linalg.CPU.MulOp (%a, %a) -> (%b)
            linalg.CPU.SoftmaxOp [axis:-1] (%a) -> (%c)
            linalg.CPU.SiLUOp (%a) -> (%d)
            linalg.CPU.GELUOp (%a) -> (%r)
            cf.ReturnOp (%r) -> ()
        }
    }
    graph.SubGraphOp @third <CPU> {
        (%a:!row) -> (%r:!row) {
            linalg.CPU.NegOp (%a) -> (%r)
            cf.ReturnOp (%r) -> ()
        }
    }

    graph.CallGraphOp @"third" (%x) -> (%z)
    linalg.CPU.NegOp (%x) -> (%n:tensor<[2, 4], Float32, CPU>)
    graph.CallGraphOp @first (%x) -> (%k)
    graph.CallGraphOp @second (%k) -> (%y)
    cf.ReturnOp (%y) -> ()
}

@other [mir_version:2] (%x:!row) -> (%y:!row) {
    linalg.CPU.ReLUOp (%x) -> (%y)
    cf.ReturnOp (%y) -> ()
}

@last [mir_version:2] (%x:!row) -> (%y:!row) {
    graph.SubGraphOp @open <CPU> {
        (%a:!row) -> (%r:!row) {
            linalg.CPU.ReLUOp (%a) -> (%r)
            cf.ReturnOp (%r) -> ()
        }
    }
    graph.CallGraphOp @open (%x) -> (%q)
    linalg.CPU.NegOp (%q) -> (%y)
    cf.ReturnOp (%y) -> ()
}
)";

/// A line, from 1, that has `old` and gets `now` instead.
struct Mistake {
  const char* what;
  std::size_t line;
  const char* old;
  const char* now;
};

const std::vector<Mistake> kMistakes = {
    {"wrong type", 7, "[2, 4], F", "[2, 4] F"},
    {"unknown op", 9, "Softmax", "Softmx"},
    {"undefined value", 10, "(%a, %a)", "(%a, %missing)"},
    {"wrong arity", 16, "(%a, %a)", "(%a)"},
    {"wrong attribute", 17, "-1", "seven"},
    {"missing result", 18, "-> (%d)", "->"},
    {"duplicate graph", 23, "@third", "@first"},
    {"stray words", 29, "", "    stray words here ) ]"},
    {"broken string", 30, "third\"", "third"},
    {"wrong shape", 31, "[2, 4]", "[2, 5]"},
    {"unknown version", 37, "mir_version:2", "mir_version:7"},
    {"unclosed brace", 48, "    }", ""},
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string with_mistakes(std::span<const Mistake> mistakes) {
  std::vector<std::string> lines = lines_of(kSoundText);
  for (const Mistake& each : mistakes) {
    std::string& line = lines[each.line - 1];
    const std::size_t at = line.find(each.old);
    REQUIRE_MESSAGE(at != line.npos, each.what);
    line.replace(at, std::string_view(each.old).size(), each.now);
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

using Findings = std::set<std::pair<int, std::string>>;  // line and code

Findings findings_of(const std::string& text) {
  LspClient client;
  client.open(text);
  Findings found;
  for (const Json& each : client.diagnostics()) {
    const int line = each["range"]["start"]["line"];
    found.emplace(line + 1, each["code"]);
  }
  return found;
}

/// One request of the session, at the first occurrence of a word in a line, from 1.
struct Ask {
  const char* method;
  std::size_t line;
  const char* word;
  Json more = Json::object();
};

const Json kWithDeclaration = {{"context", {{"includeDeclaration", true}}}};

/// Places in lines without mistakes, of names that no mistake mentions or hides.
const std::vector<Ask> kSession = {
    {"hover", 4, "x:!row"},
    {"hover", 4, "main"},
    {"hover", 1, "row"},
    {"hover", 2, "spec"},
    {"hover", 8, "s)"},
    {"hover", 8, "AddOp"},
    {"hover", 11, "s)"},
    {"hover", 14, "second"},
    {"hover", 19, "GELUOp"},
    {"hover", 20, "r)"},
    {"hover", 25, "NegOp"},
    {"hover", 25, "r)"},
    {"hover", 33, "k)"},
    {"hover", 33, "second"},
    {"hover", 34, "y)"},
    {"hover", 38, "ReLUOp"},
    {"hover", 45, "ReLUOp"},
    {"hover", 45, "r)"},
    {"hover", 43, "open"},
    {"definition", 8, "a, "},
    {"definition", 11, "s)"},
    {"definition", 20, "r)"},
    {"definition", 26, "r)"},
    {"definition", 33, "k)"},
    {"definition", 33, "second"},
    {"definition", 34, "y)"},
    {"definition", 39, "y)"},
    {"definition", 46, "r)"},
    {"definition", 49, "open"},
    {"definition", 50, "q)"},
    {"definition", 42, "row"},
    {"references", 8, "s)", kWithDeclaration},
    {"references", 14, "second", kWithDeclaration},
    {"references", 19, "r)", kWithDeclaration},
    {"references", 25, "a)", kWithDeclaration},
    {"references", 32, "k)", kWithDeclaration},
    {"references", 33, "y)", kWithDeclaration},
    {"references", 38, "x)", kWithDeclaration},
    {"references", 43, "open", kWithDeclaration},
    {"references", 45, "r)", kWithDeclaration},
    {"references", 1, "row", kWithDeclaration},
    {"documentHighlight", 11, "s)"},
    {"documentHighlight", 26, "r)"},
    {"documentHighlight", 33, "second"},
    {"documentHighlight", 49, "q)"},
    {"prepareRename", 8, "s)"},
    {"prepareRename", 33, "k)"},
    {"rename", 8, "s)", {{"newName", "sum"}}},
    {"rename", 14, "second", {{"newName", "latter"}}},
    {"rename", 33, "k)", {{"newName", "inner"}}},
    {"rename", 1, "row", {{"newName", "line"}}},
    {"rename", 45, "r)", {{"newName", "result"}}},
    {"signatureHelp", 8, "a, %a"},
    {"signatureHelp", 19, "a)"},
    {"signatureHelp", 45, "a)"},
    {"prepareCallHierarchy", 33, "second"},
    {"prepareCallHierarchy", 14, "second"},
    {"completion", 26, "r)"},
    {"completion", 38, "x)"},
    {"completion", 45, "a)"},
};

Json answer(LspClient& client, const Ask& ask) {
  const std::vector<std::string> lines = lines_of(kSoundText);
  const std::size_t at = lines[ask.line - 1].find(ask.word);
  REQUIRE_MESSAGE(at != std::string::npos, ask.word);
  Json found =
      client.at(ask.method, static_cast<int>(ask.line) - 1, static_cast<int>(at), ask.more);
  // Texts with errors have no costs, and the order of items follows the number of mentions.
  if (std::string_view(ask.method) == "hover" && found.is_object()) {
    auto& text = found["contents"]["value"].get_ref<std::string&>();
    if (const auto cost = text.find("\n\nreads "); cost != text.npos) {
      text.erase(cost, text.find("\n\n", cost + 2) - cost);
    }
  }
  if (found.is_object() && found.contains("items")) {
    for (Json& item : found["items"]) item.erase("sortText");
  }
  return found;
}

}  // namespace

TEST_SUITE("planted mistakes") {
  TEST_CASE("each of twelve mistakes is found among the others, and nothing else") {
    REQUIRE(kMistakes.size() == 12);
    CHECK(findings_of(kSoundText).empty());
    Findings alone;
    for (const Mistake& each : kMistakes) {
      CAPTURE(each.what);
      const Findings found = findings_of(with_mistakes(std::span(&each, 1)));
      REQUIRE(!found.empty());
      // What a mistake breaks elsewhere is not an error of its own, if something else explains it.
      for (const auto& [line, code] : found) {
        if (line == static_cast<int>(each.line) || found.size() == 1) alone.emplace(line, code);
      }
    }
    CHECK(alone.size() == kMistakes.size());
    const Findings together = findings_of(with_mistakes(kMistakes));
    CHECK((together == alone));
    for (const auto& each : alone) {
      CHECK_MESSAGE(together.contains(each), each.second, " in line ", each.first);
    }
    for (const auto& each : together) {
      CHECK_MESSAGE(alone.contains(each), each.second, " in line ", each.first);
    }
  }

  TEST_CASE("a session of sixty requests is answered as without the mistakes") {
    REQUIRE(kSession.size() == 60);
    const Json capabilities = {
        {"textDocument", {{"documentSymbol", {{"hierarchicalDocumentSymbolSupport", true}}}}}};
    LspClient sound(capabilities), broken(capabilities);
    sound.open(kSoundText);
    broken.open(with_mistakes(kMistakes));
    for (const Ask& ask : kSession) {
      CAPTURE(ask.method);
      CAPTURE(ask.line);
      CAPTURE(ask.word);
      const Json expected = answer(sound, ask), found = answer(broken, ask);
      CHECK(!expected.is_null());
      CHECK(!expected.empty());
      CHECK_MESSAGE((expected == found), expected.dump(), "\n", found.dump());
    }
  }
}

}  // namespace lsp_planted_test

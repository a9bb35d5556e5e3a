#include "text/emit/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "../ir/read.hpp"
#include "../syntax/corpus.hpp"

using namespace mir;
using mir::test::corpus;
using mir::test::Reading;
using nlohmann::json;

namespace {

constexpr const char* kText =
    "@main [mir_version:1] (%0:tensor<[2], Float32, CPU>) -> (%x:tensor<[2], Float32, CPU>) {\n"
    "    graph.SubGraphOp @init <CPU> {\n"
    "        () -> () {\n"
    "            tensor.CPU.register () -> (%w:tensor<[3, 2], Float32, "
    "CPU>[@up.weight])[symbol:up.weight]\n"
    "        }\n"
    "    }\n"
    "    addr:0x00000000000026 linalg.QNN.AddOp <name=\"a \\\"b\\\"\"> [k:[1, {\"l\":2.5}], m:inf, "
    "n:null, o:true, p:\"q\\n\", r:@s, t:$S] "
    "(%0, %5:tensor<[1], Float32, CPU>[constant:[1]]) -> (%x:tensor<[2], Float32, CPU>) "
    "loc(\"f\":1)\n"
    "    cf.BranchOp () -> () [^b(%x, %0), ^b] {\n"
    "    ^b(%y:tensor<[2], Float32, CPU>):\n"
    "    }\n"
    "    cf.ReturnOp (%x) -> ()\n"
    "}\n";

/// The ops of the first block of a region in emitted JSON.
const json& ops(const json& region) {
  return region["blocks"][0]["ops"];
}

std::size_t count_nodes(const json& region) {
  std::size_t count = 0;
  for (const json& block : region["blocks"]) {
    for (const json& op : block["ops"]) {
      ++count;
      if (!op.contains("regions")) continue;
      for (const json& inner : op["regions"]) count += count_nodes(inner);
    }
  }
  return count;
}

std::size_t count_ops(const Region& region) {
  std::size_t count = 0;
  for (Block* block : region.blocks()) {
    for (Op* op : block->ops()) {
      ++count;
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next())
        count += count_ops(*inner);
    }
  }
  return count;
}

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_SUITE("emit") {
  TEST_CASE("JSON holds what the text says") {
    Reading reading(kText);
    reading.module();
    const json all = json::parse(emit_json(reading.modules));
    CHECK(all["schema"] == 1);
    const json& module = all["modules"][0];
    CHECK(module["name"] == "main");
    CHECK(module["form"] == "portable");
    CHECK(module["mir_version"] == 1);
    const json& body = module["region"];
    CHECK(body["blocks"][0]["arguments"][0]["name"] == "0");
    CHECK(body["results"][0]["name"] == "x");
    CHECK(body["results"][0]["type"] == "tensor<[2], Float32, CPU>");
    const json& init = ops(body)[0];
    CHECK(init["op"] == "graph.SubGraphOp");
    CHECK(init["symbol"] == "init");
    CHECK(init["angles"] == json::array({"CPU"}));
    const json& reg = ops(init["regions"][0])[0];
    CHECK(reg["results"][0]["symbol"] == "up.weight");
    CHECK(reg["attributes"]["symbol"] == "up.weight");
    const json& add = ops(body)[1];
    CHECK(add["op"] == "linalg.AddOp");
    CHECK(add["device"] == "QNN");
    CHECK(add["address"] == 0x26);
    CHECK(add["path"] == "a \"b\"");
    CHECK(add["loc"] == "loc(\"f\":1)");
    CHECK(add["line"] == 7);
    CHECK(add["column"] == 27);
    CHECK(add["attributes"] == json{{"k", {1, {{"l", 2.5}}}},
                                    {"m", "inf"},
                                    {"n", nullptr},
                                    {"o", true},
                                    {"p", "q\n"},
                                    {"r", "@s"},
                                    {"t", "$S"}});
    CHECK(add["operands"][0]["id"] == body["blocks"][0]["arguments"][0]["id"]);
    CHECK(add["operands"][1]["attributes"]["constant"] == json::array({1}));
    CHECK(add["results"][0]["name"] == "x");
    const json& branch = ops(body)[2];
    CHECK(branch["successors"][0] ==
          json{{"block", "b"}, {"first_operand", 0}, {"operand_count", 2}});
    CHECK(branch["successors"][1]["operand_count"] == 0);
    CHECK(branch["operands"].size() == 2);
    CHECK(branch["regions"][0]["blocks"][0]["name"] == "b");
    CHECK_FALSE(branch["regions"][0].contains("results"));
    CHECK(ops(body)[3]["operands"][0]["id"] == add["results"][0]["id"]);
  }

  TEST_CASE("JSON of a dump shows what a mention states") {
    Reading reading(
        "@main () -> () { a.b () -> (%0:tensor<[1], F, D>) a.c (%0:tensor<[2], F, D>[k:1]) -> () "
        "prog.ret }\n");
    reading.module();
    const json all = json::parse(emit_json(reading.modules));
    CHECK(all["modules"][0]["form"] == "dump");
    CHECK_FALSE(all["modules"][0].contains("mir_version"));
    const json& user = ops(all["modules"][0]["region"])[1];
    CHECK(user["operands"][0]["type"] == "tensor<[2], F, D>");
    CHECK(user["operands"][0]["attributes"]["k"] == 1);
    CHECK_FALSE(ops(all["modules"][0]["region"])[2].contains("operands"));
  }

  TEST_CASE("statistics count operations, values and parameter bytes") {
    Reading reading(kText);
    reading.module();
    CHECK(emit_stats(reading.modules) ==
          "module @main (portable)\n"
          "  5 operations, 1 graphs, 0 calls, 2 results, 2 types\n"
          "  1 parameters, 24 bytes\n"
          "         1  cf.BranchOp\n"
          "         1  cf.ReturnOp\n"
          "         1  graph.SubGraphOp\n"
          "         1  linalg.AddOp\n"
          "         1  tensor.register\n");
    Reading symbolic(
        "@m () -> () { tensor.CPU.register () -> (%0:tensor<[$S], Float32, CPU>[@w])[symbol:w] "
        "tensor.CPU.register () -> (%1:tensor<[3], Float16, CPU>[@v])[symbol:v] }\n");
    symbolic.module();
    CHECK(emit_stats(symbolic.modules).find("2 parameters, at least 6 bytes\n") !=
          std::string::npos);
  }

  TEST_CASE("a picture is balanced and its edges join nodes that it has") {
    Reading reading(kText);
    reading.module();
    std::istringstream lines(emit_dot(picture_of(reading.modules, {})));
    std::set<std::string> nodes;
    std::vector<std::string> ends;
    int depth = 0;
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      const auto start = line.find_first_not_of(' ');
      REQUIRE(start != line.npos);
      CHECK(start == static_cast<std::size_t>(2 * (depth - (line[start] == '}'))));
      std::istringstream words(line.substr(start));
      std::string first, second, third;
      words >> first >> second >> third;
      depth += (first == "digraph" || first == "subgraph") - (first == "}");
      if (second == "->") {
        ends.push_back(first);
        ends.push_back(third.substr(0, third.find(';')));
      } else if (second.starts_with("[label=") || second.starts_with("[shape=oval")) {
        CHECK(nodes.insert(first).second);
      }
    }
    CHECK(depth == 0);
    CHECK(ends.size() >= 4);
    for (const std::string& end : ends) CHECK(nodes.contains(end));
  }

  TEST_CASE("boxes of a picture name the op, its path and the graph that it calls") {
    Reading reading(
        "@main () -> () {\n"
        "graph.SubGraphOp @g \"q\\b <CPU> { (%0:tensor<[2], Float32, CPU>) -> () { } }\n"
        "graph.CallGraphOp @g (%1:tensor<[2], Float32, CPU>) -> ()\n"
        "linalg.CPU.NegOp <name=\"a.\\\"b\"> (%1:tensor<[2], Float32, CPU>) -> "
        "(%2:tensor<[2], Float32, CPU>)\n}\n");
    reading.module();
    const Picture picture = picture_of(reading.modules, {.has_types = true});
    const std::string text = emit_dot(picture);
    CHECK(text.substr(text.find("  n0")) ==
          R"(  n0 [shape=oval, style=solid, label="%1\ntensor<[2], Float32, CPU>"];
  n1 [label="CallGraph\n@g"];
  n2 [label="Neg\na.\\\"b"];
  n0 -> n1 [label="tensor<[2], Float32, CPU>"];
  n0 -> n2 [label="tensor<[2], Float32, CPU>"];
}
)");
    CHECK(emit_mermaid(picture) == R"(flowchart TD
  n0(["%1<br>tensor#60;[2], Float32, CPU#62;"])
  n1["CallGraph<br>@g"]
  n2["Neg<br>a.#92;#34;b"]
  n0 -->|"tensor#60;[2], Float32, CPU#62;"| n1
  n0 -->|"tensor#60;[2], Float32, CPU#62;"| n2
)");
  }

  TEST_CASE("parameters and constants of a picture are lines of the op that reads them") {
    Reading reading(kText);
    reading.module();
    const Picture picture = picture_of(reading.modules, {});
    const auto add = std::ranges::find_if(
        picture.nodes, [](const PictureNode& node) { return node.lines.front() == "Add"; });
    REQUIRE(add != picture.nodes.end());
    CHECK(add->lines.back() == "[1]");
    CHECK(picture.nodes.front().lines.front() == "%0");
    CHECK(picture.nodes.back().kind == PictureNode::Kind::kOutput);
    CHECK(picture.nodes.back().lines.front() == "%x");
  }

  TEST_CASE("equal layers of a picture are drawn once, with their number") {
    const auto text_of = [](int layers, std::string_view last) {
      std::string text =
          "@main [mir_version:1] (%x0:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, "
          "CPU>) {\n";
      for (int i = 0; i < layers; ++i) {
        text += fmt::format(
            "linalg.CPU.{3} <name=\"m.layers.{0}.a\"> (%x{0}) -> (%a{0})\n"
            "linalg.CPU.AddOp (%x{0}, %a{0}) -> (%b{0})\n"
            "linalg.CPU.SiLUOp <name=\"m.layers.{0}.c\"> (%b{0}) -> (%c{0})\n"
            "linalg.CPU.AddOp (%b{0}, %c{0}) -> ({1}{2})\n",
            i, i + 1 == layers ? "%y" : "%x", i + 1 == layers ? "" : std::to_string(i + 1),
            i + 1 == layers ? last : "NegOp");
      }
      return text + "cf.ReturnOp (%y) -> ()\n}\n";
    };
    Reading equal(text_of(28, "NegOp"));
    equal.module();
    const Picture picture = picture_of(equal.modules, {});
    REQUIRE(picture.clusters.size() == 2);
    CHECK(picture.clusters[1].title == "28 times: m.layers.*");
    CHECK(picture.nodes.size() == 6);
    CHECK(picture.nodes[1].lines == std::vector<std::string>{"Neg", "a"});
    CHECK(std::ranges::count(picture.edges, true, &PictureEdge::is_control) == 2);
    Reading other(text_of(28, "AbsOp"));
    other.module();
    CHECK(picture_of(other.modules, {}).clusters[1].title == "27 times: m.layers.*");
  }

  TEST_CASE("calls and regions of a picture are drawn inside, up to a depth") {
    Reading reading(
        "@main [mir_version:2] (%x:tensor<[2], Float32, CPU>, %c:tensor<[], Bool, CPU>) -> "
        "(%y:tensor<[2], Float32, CPU>) {\n"
        "graph.SubGraphOp @g <CPU> { (%p:tensor<[2], Float32, CPU>) -> (%q:tensor<[2], Float32, "
        "CPU>) {\n"
        "linalg.CPU.NegOp (%p) -> (%q)\n cf.ReturnOp (%q) -> ()\n} }\n"
        "graph.CallGraphOp @g (%x) -> (%n:tensor<[2], Float32, CPU>)\n"
        "cf.IfOp (%c) -> (%y:tensor<[2], Float32, CPU>) {\n"
        "linalg.CPU.AbsOp (%n) -> (%a:tensor<[2], Float32, CPU>)\n cf.YieldOp (%a) -> ()\n} {\n"
        "cf.YieldOp (%n) -> ()\n}\ncf.ReturnOp (%y) -> ()\n}\n");
    reading.module();
    const auto titles = [&](const PictureOptions& options) {
      std::vector<std::string> all;
      const Picture picture = picture_of(reading.modules, options);
      for (const PictureCluster& each : picture.clusters) all.push_back(each.title);
      return all;
    };
    using Titles = std::vector<std::string>;
    CHECK(titles({}) == Titles{"", "@g", "IfOp", "region 0", "region 1"});
    CHECK(titles({.depth = 0}) == Titles{""});
    CHECK(titles({.graph = "g"}) == Titles{"", "@g"});
    const Picture picture = picture_of(reading.modules, {});
    const auto lines = [&](std::size_t node) { return picture.nodes[node].lines.front(); };
    std::vector<std::string> edges;
    for (const PictureEdge& each : picture.edges) {
      edges.push_back(
          fmt::format("{} {} {}", lines(each.from), each.is_control ? "-." : "->", lines(each.to)));
    }
    CHECK(edges == std::vector<std::string>{"%x -> Neg", "%c -> If", "Neg -> Abs", "If -. Abs",
                                            "Abs -> results of IfOp", "Neg -> results of IfOp",
                                            "results of IfOp -> %y"});
  }

  TEST_CASE("every dump is emitted with all its operations") {
    for (const std::string& path : corpus()) {
      CAPTURE(path);
      if (mir::test::is_ambiguous(path)) continue;
      if (path.find("qwen3_qnn") != path.npos) continue;  // large; the others have all that it has
      Reading reading(file_text(path));
      reading.module();
      const json all = json::parse(emit_json(reading.modules));
      REQUIRE(all["modules"].size() == reading.modules.size());
      for (std::size_t i = 0; i < reading.modules.size(); ++i) {
        CHECK(count_nodes(all["modules"][i]["region"]) == count_ops(reading.modules[i]->body()));
      }
    }
  }
}

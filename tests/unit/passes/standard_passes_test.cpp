// Passes that reshape a module, fold it, or name what is in it.
#include <fmt/format.h>

#include "known_passes.hpp"
#include "mir/verify.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;

namespace standard_passes_test {

namespace {

/// The module after the pipeline, which must verify; or the first problem.
std::string after(const std::string& text, std::string_view pipeline) {
  Reading reading(text);
  REQUIRE(reading.errors() == Lines{});
  Passes all;
  const Lines problems = all.run(reading.module(), pipeline);
  if (!problems.empty()) return problems.front();
  Diagnostics found;
  verify(reading.module(), found);
  CHECK(test::lines_of(found, reading.context) == Lines{});
  return print(reading.module());
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// The constant that an op on constants becomes; empty where it stays.
std::string folded(std::string_view op, std::string_view type) {
  const std::string text = after(
      fmt::format(
          "@main [mir_version:1] () -> (%z:{0}) {{\n{1} -> (%z:{0})\ncf.ReturnOp (%z) -> ()\n}}\n",
          type, op),
      "fold-constants");
  const auto at = text.find("ReturnOp (");
  const auto constant = text.find("[constant:[", at);
  if (constant == text.npos) return "";
  const auto begin = constant + std::string_view("[constant:[").size();
  return text.substr(begin, text.find("]]", begin) - begin);
}

/// Two constants for `folded`.
std::string pair(std::string_view kind, std::string_view type, std::string_view a,
                 std::string_view b) {
  return fmt::format("linalg.CPU.{0}(%a:{1}[constant:[{2}]], %b:{1}[constant:[{3}]])", kind, type,
                     a, b);
}

constexpr std::string_view kF = "tensor<[2], Float32, CPU>", kI8 = "tensor<[2], Int8, CPU>",
                           kI64 = "tensor<[1], Int64, CPU>", kF16 = "tensor<[2], Float16, CPU>",
                           kF64 = "tensor<[2], Float64, CPU>";

}  // namespace

TEST_SUITE("standard passes") {
  TEST_CASE("operations on constants become constants") {
    CHECK(folded(pair("AddOp", kF, "1.5, 2", "0.25"), kF) == "1.75, 2.25");
    CHECK(folded(pair("MulOp", kF, "0.1, 0.2", "3"), kF) == "0.3, 0.6");
    CHECK(folded(pair("DivOp", kF, "1, 0", "0, 0"), kF) == "inf, nan");
    CHECK(folded(pair("MulOp", kF, "0, 0", "-1"), kF) == "-0.0");
    CHECK(folded(pair("MulOp", kF64, "0.1, 0.2", "3"), kF64) ==
          "0.30000000000000004, 0.6000000000000001");
    CHECK(folded(pair("AddOp", kF16, "2048, 1", "1"), kF16) == "2048.0, 2.0");
    CHECK(folded(pair("AddOp", kI8, "100, -128", "100, -1"), kI8) == "-56, 127");
    CHECK(folded(pair("AddOp", kI64, "9007199254740990", "1"), kI64) == "9007199254740991");
    CHECK(folded(pair("EqualOp", kF, "1, 2", "1"), "tensor<[2], Bool, CPU>") == "1, 0");
  }

  TEST_CASE("codes move as they are only if they are plain integers to all") {
    const std::string recipe =
        "[quant_recipe:QuantSpec(SymPerTensor(quant_min: -127, quant_max: 127, quant_to_type: "
        "Int8, "
        "scale_type: Float32), uuid=1, solved=1), quant_scale:0.5]";
    const auto cloned = [](const std::string& dtype, const std::string& facts) {
      const std::string type = "tensor<[2], " + dtype + ", CPU>";
      return after("@main [mir_version:1] () -> (%z:" + type + facts +
                       ") {\nlinalg.CPU.CloneOp (%a:" + type + "[constant:[1, 2]]" + facts +
                       ") -> (%z:" + type + facts + ")\ncf.ReturnOp (%z) -> ()\n}\n",
                   "fold-constants");
    };
    CHECK(has(cloned("Int8PerTensor", recipe), "CloneOp"));
    CHECK_FALSE(has(cloned("Int8", ""), "CloneOp"));
  }

  TEST_CASE("what is no constant, or a large one, stays") {
    // Its neighbour cannot be told from it.
    CHECK(folded(pair("AddOp", kI64, "9007199254740992", "1"), kI64) == "");
    const auto ones = [](std::string_view type) {
      return folded(pair("AddOp", type, "1", "0"), type);
    };
    CHECK(ones("tensor<[257], Float32, CPU>") == "");
    CHECK(ones("tensor<[256], Float32, CPU>") == "1.0");
    CHECK(ones("tensor<[0], Float32, CPU>") == "");
    const auto sum = [](std::string_view extent) {
      return folded(fmt::format("linalg.CPU.ReduceSumOp [dim:0, keep_dim:true](%a:tensor<[{}], "
                                "Float32, CPU>[constant:[1]])",
                                extent),
                    "tensor<[1], Float32, CPU>");
    };
    CHECK(sum("65536") == "65536.0");
    CHECK(sum("65537") == "");
    CHECK(sum("1000000000000") == "");
    const std::string input = fmt::format(
        "@main [mir_version:1] (%x:{0}) -> (%z:{0}) {{\nlinalg.CPU.AddOp(%x, %c:{0}[constant:[1]]) "
        "-> (%z:{0})\ncf.ReturnOp (%z) -> ()\n}}\n",
        kF);
    CHECK(has(after(input, "fold-constants"), "AddOp"));
  }

  TEST_CASE("symbols get values in types and attributes") {
    const std::string text =
        "@main [mir_version:1] (%x:tensor<[$S, 4], Float32, CPU>, %t:tensor<[$T], Float32, CPU>) "
        "-> "
        "(%z:tensor<[2*$S, 2], Float32, CPU>, %t:tensor<[$T], Float32, CPU>) {\n"
        "linalg.CPU.ViewOp [to_shape:[2*$S, 2]] (%x) -> (%z:tensor<[2*$S, 2], Float32, CPU>)\n"
        "cf.ReturnOp (%z, %t) -> ()\n}\n";
    const std::string bound = after(text, "bind-symbols{S=3}");
    CHECK(has(bound, "-> (%z:tensor<[6, 2], Float32, CPU>, %t:tensor<[$T], Float32, CPU>)"));
    CHECK(has(bound, "to_shape:[6, 2]"));
    CHECK(has(after(text, "bind-symbols{S=3,T=7}"), "%t:tensor<[7], Float32, CPU>"));
    CHECK(has(after(text, "bind-symbols{\"$S\"=0}"), "tensor<[0, 4], Float32, CPU>"));
    CHECK(after(text, "bind-symbols{SS=3}") ==
          "1:1 MIR0920 no extent of the module has the symbol 'SS'");
    const std::string difference =
        "@main [mir_version:1] (%x:tensor<[$S], Float32, CPU>) -> (%y:tensor<[$S-2], Float32, "
        "CPU>) {\n"
        "linalg.CPU.SliceOp [indices:[{\"end\":-2}]] (%x) -> (%y)\ncf.ReturnOp (%y) -> ()\n}\n";
    CHECK(has(after(difference, "bind-symbols{S=2}"), "-> (%y:tensor<[0], Float32, CPU>)"));
    CHECK(has(after(difference, "bind-symbols{S=1}"), "MIR0920 extent $S-2 is -1"));
    const std::string declared =
        "@main [mir_version:2, symbols:{S:{min:4,multiple:4},T:{min:1}}] "
        "(%x:tensor<[$S, $T], Float32, CPU>) -> () {\ncf.ReturnOp () -> ()\n}\n";
    CHECK(after(declared, "bind-symbols{S=6}") ==
          "1:1 MIR0830 '$S' is 6 by the pass, its declaration admits 4 or more, a multiple of 4");
    CHECK(has(after(declared, "bind-symbols{S=8}"),
              R"(@main [mir_version:2, symbols:{"T":{"min":1}}] )"));
    CHECK(has(after(declared, "bind-symbols{S=8,T=1}"), "@main [mir_version:2] "));
  }

  TEST_CASE("graphs are copied for values of a symbol, and for calls that pass numbers") {
    const std::string text =
        "@main [mir_version:1] (%x:tensor<[$S, 4], Float32, CPU>) -> "
        "(%y:tensor<[$S+1, 4], Float32, CPU>) {\n"
        "graph.SubGraphOp @outer <CPU> [symbol:outer] {\n"
        "(%a:tensor<[$S, 4], Float32, CPU>) -> (%c:tensor<[$S+1, 4], Float32, CPU>) {\n"
        "linalg.CPU.PadOp [pad:[0, 0, 0, 1]] (%a) -> (%b:tensor<[$S+1, 4], Float32, CPU>)\n"
        "graph.CallGraphOp @inner (%b) -> (%c:tensor<[$S+1, 4], Float32, CPU>)\n"
        "cf.ReturnOp (%c) -> ()\n}\n}\n"
        // The symbol is in no argument alone.
        "graph.SubGraphOp @inner <CPU> {\n"
        "(%a:tensor<[$S+1, 4], Float32, CPU>) -> (%b:tensor<[$S+1, 4], Float32, CPU>) {\n"
        "linalg.CPU.NegOp (%a) -> (%b:tensor<[$S+1, 4], Float32, CPU>)\n"
        "cf.ReturnOp (%b) -> ()\n}\n}\n"
        "graph.CallGraphOp @outer (%x) -> (%y:tensor<[$S+1, 4], Float32, CPU>)\n"
        "cf.ReturnOp (%y) -> ()\n}\n";
    const std::string once = after(text, "specialize{S=2}");
    CHECK(has(once, "@main [mir_version:2] "));
    CHECK(has(once, "graph.SubGraphOp @outer.S2 <CPU> [symbol:outer.S2] {"));
    CHECK(has(once, "graph.CallGraphOp @inner.S2 (%b:tensor<[3, 4], Float32, CPU>)"));
    CHECK(has(once, "-> (%y:tensor<[$S+1, 4], Float32, CPU>)"));
    CHECK_FALSE(has(once, "@main.body"));
    // Names that are taken, and values that are given twice.
    const std::string again = after(once, "specialize{S=[2, 2, 0]}");
    CHECK(has(again, "graph.CallGraphOp @main.body.S2 "));
    CHECK(has(again, "graph.SubGraphOp @outer.S2.1 <CPU> [symbol:outer.S2.1] {"));
    CHECK(has(again, "[cases:[2, 0]] [^any, ^S2, ^S0]"));
    CHECK(has(after(text, "specialize{SS=2}"), "no dimension of an input is '$SS'"));

    const std::string calls =
        "@main [mir_version:2] (%x:tensor<[3, 4], Float32, CPU>, %z:tensor<[$N, $M], Float32, "
        "CPU>) -> "
        "(%y:tensor<[3, 4], Float32, CPU>, %w:tensor<[$N, 1], Float32, CPU>) {\n"
        "graph.SubGraphOp @half <CPU> {\n"
        "(%a:tensor<[$S, $T], Float32, CPU>) -> (%b:tensor<[$S, $T], Float32, CPU>) {\n"
        "linalg.CPU.NegOp (%a) -> (%b:tensor<[$S, $T], Float32, CPU>)\n"
        "cf.ReturnOp (%b) -> ()\n}\n}\n"
        "graph.CallGraphOp @half (%x) -> (%y:tensor<[3, 4], Float32, CPU>)\n"
        "graph.CallGraphOp @half (%z) -> (%t:tensor<[$N, $M], Float32, CPU>)\n"
        "linalg.CPU.ReduceSumOp [dim:1, keep_dim:true] (%t) -> (%v:tensor<[$N, 1], Float32, CPU>)\n"
        "graph.CallGraphOp @half (%v) -> (%u:tensor<[$N, 1], Float32, CPU>)\n"
        "graph.CallGraphOp @half (%u) -> (%w:tensor<[$N, 1], Float32, CPU>)\n"
        "cf.ReturnOp (%y, %w) -> ()\n}\n";
    const std::string direct = after(calls, "specialize");
    CHECK(has(direct, "graph.CallGraphOp @half.S3.T4 ("));
    CHECK(has(direct, "graph.SubGraphOp @half.T1 "));
    CHECK(has(direct, "graph.CallGraphOp @half.T1 (%u:"));
    CHECK(after(direct, "specialize") == direct);

    const std::string declared =
        "@main [mir_version:2, symbols:{S:{min:4,multiple:4}}] "
        "(%x:tensor<[$S], Float32, CPU>) -> (%y:tensor<[$S-2], Float32, CPU>) {\n"
        "linalg.CPU.SliceOp [indices:[{\"end\":-2}]] (%x) -> (%y)\ncf.ReturnOp (%y) -> ()\n}\n";
    CHECK(after(declared, "specialize{S=[4,6]}") ==
          "1:1 MIR0830 '$S' is 6 by the pass, its declaration admits 4 or more, a multiple of 4");
    std::string any = declared;
    any.replace(any.find(", symbols:{S:{min:4,multiple:4}}"), 32, "");
    CHECK(has(after(any, "specialize{S=1}"), "extent $S-2 is negative in '@main.body.S1'"));

    // What a graph finds out is a symbol of the module before version 2.
    const std::string shared =
        "@main [mir_version:1] (%x:tensor<[$S], Float32, CPU>, %m:tensor<[4], Bool, CPU>) -> "
        "(%k:tensor<[$K], Float32, CPU>) {\n"
        "graph.SubGraphOp @count <CPU> {\n"
        "(%m:tensor<[4], Bool, CPU>) -> (%n:tensor<[1], Float32, CPU>) {\n"
        "linalg.CPU.CompressOp [dim:0] (%v:tensor<[4], Float32, CPU>[constant:[1.0]], %m) -> "
        "(%i:tensor<[$K], Float32, CPU>)\n"
        "linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%i) -> (%n)\n"
        "cf.ReturnOp (%n) -> ()\n}\n}\n"
        "graph.CallGraphOp @count (%m) -> (%n:tensor<[1], Float32, CPU>)\n"
        "linalg.CPU.IotaOp [shape:[$K], dtype:Float32, dim:0] () -> (%k)\n"
        "cf.ReturnOp (%k) -> ()\n}\n";
    CHECK(has(after(shared, "specialize{S=1}"),
              "needs mir_version:2, where the symbols of '@count' are its own"));
  }

  TEST_CASE("a symbol of a graph is bound where all calls determine it alike") {
    const auto module_of = [](std::string_view graph_body, std::string_view body) {
      return fmt::format(
          "@main [mir_version:2] (%x:tensor<[1, $S], Float32, CPU>, %t:tensor<[$T], Float32, CPU>) "
          "-> (%a:tensor<[1, $S], Float32, CPU>) {{\n"
          "graph.SubGraphOp @g <CPU> {{\n{}}}\n{}cf.ReturnOp (%a) -> ()\n}}\n",
          graph_body, body);
    };
    const std::string doubling =
        "(%y:tensor<[1, $S], Float32, CPU>) -> (%z:tensor<[1, $S], Float32, CPU>) {\n"
        "linalg.CPU.AddOp (%y, %y) -> (%z)\ncf.ReturnOp (%z) -> ()\n}\n";
    const std::string call = "graph.CallGraphOp @g (%x) -> (%a)\n";
    const std::string other =
        "linalg.CPU.ReduceSumOp [dim:1, keep_dim:true] (%x) -> (%s)\n"
        "graph.CallGraphOp @g (%s) -> (%b)\n";
    const std::string once = after(module_of(doubling, call), "bind-symbols{S=4}");
    CHECK(has(once, "(%y:tensor<[1, 4], Float32, CPU>) -> (%z:tensor<[1, 4], Float32, CPU>)"));
    // Another call passes 1, so the graph keeps its symbol.
    const std::string twice = after(module_of(doubling, call + other), "bind-symbols{S=4}");
    CHECK(has(twice, "@main [mir_version:2] (%x:tensor<[1, 4], Float32, CPU>"));
    CHECK(has(twice, "(%y:tensor<[1, $S], Float32, CPU>) -> (%z:tensor<[1, $S], Float32, CPU>)"));
    CHECK(has(twice, "@g (%s:tensor<[1, 1], Float32, CPU>) -> (%b:tensor<[1, 1], Float32, CPU>)"));
    // The graph's `$S` is what calls pass, not the module's.
    const std::string swapped =
        "(%y:tensor<[$T, $S], Float32, CPU>) -> (%z:tensor<[$T, $S], Float32, CPU>) {\n"
        "linalg.CPU.AddOp (%y, %y) -> (%z)\ncf.ReturnOp (%z) -> ()\n}\n";
    const std::string bound = after(module_of(swapped, call), "bind-symbols{T=7}");
    CHECK(has(bound, "%t:tensor<[7], Float32, CPU>"));
    CHECK(has(bound, "(%y:tensor<[1, $S], Float32, CPU>)"));
    CHECK(has(after(module_of(swapped, call), "bind-symbols{S=7}"),
              "(%y:tensor<[1, 7], Float32, CPU>)"));

    // A symbol that the graph does not bind is the caller's, also where a call passes numbers.
    const std::string inherited =
        "(%y:tensor<[1, $N], Float32, CPU>) -> (%z:tensor<[1, $N], Float32, CPU>) {\n"
        "linalg.CPU.IotaOp [shape:[$T], dtype:Float32, dim:0] () -> (%i)\n"
        "linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%i) -> (%j)\n"
        "linalg.CPU.AddOp (%y, %j) -> (%z)\ncf.ReturnOp (%z) -> ()\n}\n";
    CHECK(has(after(module_of(inherited, call), "bind-symbols{T=7}"), "[shape:[7], "));
    CHECK(has(after(module_of(inherited, call), "specialize{T=7}"), "[shape:[7], "));
    CHECK(has(after(module_of(inherited, call + other), "specialize{S=2}"), "[shape:[$T], "));

    // A graph whose result has such a symbol does not find it out.
    const std::string shared = fmt::format(
        "@main [mir_version:1] (%x:{0}, %t:{1}) -> (%y:{0}, %u:{1}) {{\n"
        "graph.SubGraphOp @g <CPU> {{\n() -> (%i:{1}) {{\n"
        "linalg.CPU.IotaOp [shape:[$T], dtype:Float32, dim:0] () -> (%i:{1})\n"
        "cf.ReturnOp (%i) -> ()\n}}\n}}\n"
        "graph.SubGraphOp @h <CPU> {{\n(%x:{0}) -> (%y:{0}) {{\n"
        "graph.CallGraphOp @g () -> (%i:{1})\n"
        "linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%i) -> (%r:tensor<[1], Float32, CPU>)\n"
        "linalg.CPU.AddOp (%x, %r) -> (%y:{0})\ncf.ReturnOp (%y) -> ()\n}}\n}}\n"
        "graph.CallGraphOp @h (%x) -> (%y:{0})\nlinalg.CPU.NegOp (%t) -> (%u:{1})\n"
        "cf.ReturnOp (%y, %u) -> ()\n}}\n",
        "tensor<[$S], Float32, CPU>", "tensor<[$T], Float32, CPU>");
    CHECK(has(after(shared, "specialize{S=2}"), "graph.CallGraphOp @h.S2 "));
    CHECK(has(after(shared, "specialize{T=3}"), "graph.CallGraphOp @g.T3 () -> "));

    // What only calls determine has no value of its own.
    CHECK(
        after(module_of(swapped, "graph.CallGraphOp @g (%x) -> (%a)\n"), "bind-symbols{S=7,U=1}") ==
        "1:1 MIR0920 no extent of the module has the symbol 'U'");
    const std::string named =
        "(%y:tensor<[1, $N], Float32, CPU>) -> (%z:tensor<[1, $N], Float32, CPU>) {\n"
        "linalg.CPU.AddOp (%y, %y) -> (%z)\ncf.ReturnOp (%z) -> ()\n}\n";
    CHECK(after(module_of(named, call), "bind-symbols{N=7}") ==
          "2:1 MIR0920 '$N' is a symbol of graph '@g', whose calls determine its value");
    CHECK(has(after(module_of(named, call), "bind-symbols{S=7}"),
              "(%y:tensor<[1, 7], Float32, CPU>)"));
  }

  TEST_CASE("a symbol that a region finds out stays when one of its name is bound") {
    const std::string text =
        "@main [mir_version:2] (%x:tensor<[1, $S], Float32, CPU>, %m:tensor<[4], Bool, CPU>, "
        "%v:tensor<[4], Float32, CPU>, %c:tensor<[1], Bool, CPU>) -> (%y:tensor<[1, $S], Float32, "
        "CPU>, %n:tensor<[1], Float32, CPU>) {\n"
        "linalg.CPU.NegOp (%x) -> (%y)\n"
        "cf.IfOp (%c) -> (%n:tensor<[1], Float32, CPU>) {\n"
        "() -> (%q:tensor<[1], Float32, CPU>) {\n"
        "linalg.CPU.CompressOp [dim:0] (%v, %m) -> (%i:tensor<[$S], Float32, CPU>)\n"
        "linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%i) -> (%q)\ncf.YieldOp (%q) -> ()\n}\n"
        "() -> (%r:tensor<[1], Float32, CPU>) {\n"
        "linalg.CPU.ReduceSumOp [dim:1] (%x) -> (%r)\ncf.YieldOp (%r) -> ()\n}\n}\n"
        "cf.ReturnOp (%y, %n) -> ()\n}\n";
    const std::string bound = after(text, "bind-symbols{S=3}");
    CHECK(has(bound, "(%x:tensor<[1, 3], Float32, CPU>) -> (%y:tensor<[1, 3], Float32, CPU>)"));
    CHECK(has(bound, "(%i:tensor<[$S], Float32, CPU>)"));
    CHECK(has(bound, "linalg.CPU.ReduceSumOp [dim:1] (%x:tensor<[1, 3], Float32, CPU>)"));
    const std::string copied = after(text, "specialize{S=3}");
    CHECK(has(copied, "@main.body.S3"));
    CHECK(has(copied, "(%i:tensor<[$S], Float32, CPU>)"));
  }

  TEST_CASE("an op with a symbol of a region is another one than with that around it") {
    const std::string text =
        "@main [mir_version:2] (%x:tensor<[1, $S], Float32, CPU>, %m:tensor<[4], Bool, CPU>, "
        "%v:tensor<[4], Float32, CPU>, %c:tensor<[1], Bool, CPU>) -> (%n:tensor<[1], Float32, "
        "CPU>) {\n"
        "linalg.CPU.IotaOp [shape:[$S], dtype:Float32, dim:0] () -> (%o)\n"
        "linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%o) -> (%p)\n"
        "cf.IfOp (%c) -> (%n:tensor<[1], Float32, CPU>) {\n"
        "() -> (%t:tensor<[1], Float32, CPU>) {\n"
        "linalg.CPU.CompressOp [dim:0] (%v, %m) -> (%i:tensor<[$S], Float32, CPU>)\n"
        "linalg.CPU.IotaOp [shape:[$S], dtype:Float32, dim:0] () -> (%j)\n"
        "linalg.CPU.AddOp (%i, %j) -> (%k)\n"
        "linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%k) -> (%q)\n"
        "linalg.CPU.AddOp (%p, %q) -> (%t)\ncf.YieldOp (%t) -> ()\n}\n"
        "() -> (%c0:tensor<[1], Float32, CPU>) {\n"
        "cf.YieldOp (%c0:tensor<[1], Float32, CPU>[constant:[0.0]]) -> ()\n}\n}\n"
        "cf.ReturnOp (%n) -> ()\n}\n";
    const std::string merged = after(text, "cse");
    CHECK(merged.find("IotaOp") < merged.rfind("IotaOp"));
    const std::string sunk = after(text, "sink");
    CHECK(sunk.find("IotaOp") < sunk.find("cf.IfOp"));
    CHECK(sunk.find("ReduceSumOp") < sunk.find("cf.IfOp"));
  }

  TEST_CASE("keyed options are read and printed") {
    Passes all;
    const auto spelled = [&](std::string_view text) {
      const auto pipeline = all.read(text);
      return pipeline ? spelling(*pipeline) : all.problems.front();
    };
    CHECK(spelled("bind-symbols{S=4,T=2}") == "bind-symbols{S=4,T=2}");
    CHECK(spelled("bind-symbols{\"a b\"=4}") == "bind-symbols{\"a b\"=4}");
    CHECK(spelled("bind-symbols{S=-1}") ==
          "1:16 MIR0920 'S' takes an integer from 0 to 9223372036854775807, found '-1'");
    CHECK(spelled("bind-symbols{S=1,S=2}") == "1:20 MIR0920 'S' is given twice");
    CHECK(has(spelled("bind-symbols{S}"), "pass 'bind-symbols' has no option 'S'"));
  }

  TEST_CASE("a graph becomes the module, with what it calls") {
    const std::string text = fmt::format(
        "@main [mir_version:1] (%x:{0}) -> (%z:{0}) {{\n"
        "graph.SubGraphOp @init <notype> {{ () -> () {{\n"
        "tensor.CPU.register () -> (%w:tensor<[2], Float32, CPU>[@w])[symbol:w]\n"
        "tensor.CPU.register () -> (%v:tensor<[2], Float32, CPU>[@v])[symbol:v] }} }}\n"
        "graph.SubGraphOp @inner <CPU> {{ (%a:{0}) -> (%b:{0}) {{\n"
        "linalg.CPU.AddOp(%a, %w:tensor<[2], Float32, CPU>[@w]) -> (%b:{0}) cf.ReturnOp (%b) -> () "
        "}} }}\n"
        "graph.SubGraphOp @outer <CPU> {{ (%a:{0}) -> (%b:{0}) {{\n"
        "graph.CallGraphOp @inner (%a) -> (%b:{0}) cf.ReturnOp (%b) -> () }} }}\n"
        "graph.SubGraphOp @other <CPU> {{ (%a:{0}) -> (%b:{0}) {{\n"
        "linalg.CPU.AddOp(%a, %v:tensor<[2], Float32, CPU>[@v]) -> (%b:{0}) cf.ReturnOp (%b) -> () "
        "}} }}\n"
        "graph.CallGraphOp @outer (%x) -> (%y:{0})\n"
        "graph.CallGraphOp @other (%y) -> (%z:{0})\ncf.ReturnOp (%z) -> ()\n}}\n",
        kF);
    const std::string outer = after(text, "extract-graph{graph=outer}");
    CHECK(has(outer, "CallGraphOp @outer"));
    CHECK(has(outer, "SubGraphOp @inner"));
    CHECK(has(outer, "[symbol:w]"));
    CHECK_FALSE(has(outer, "[symbol:v]"));
    CHECK_FALSE(has(outer, "@other"));
    CHECK(has(after(text, "extract-graph{graph=other}"), "[symbol:v]"));
    CHECK(after(text, "extract-graph{graph=outr}") ==
          "1:1 MIR0920 the module has no graph '@outr'; the graphs are: 'inner', 'outer', 'other'");
    CHECK(
        after(text, "extract-graph") ==
        "1:1 MIR0920 'extract-graph' needs graph=NAME; the graphs are: 'inner', 'outer', 'other'");
    CHECK(has(after(text, "extract-graph{graph=init}"), "MIR0920"));
  }

  TEST_CASE("graphs are merged if they compute the same") {
    const auto module_of = [](std::string_view first, std::string_view second) {
      return fmt::format(
          "@main [mir_version:1] (%x:{0}) -> (%z:{0}) {{\n"
          "graph.SubGraphOp @a <CPU> {{ (%p:{0}) -> (%q:{0}) {{ {1} cf.ReturnOp (%q) -> () }} }}\n"
          "graph.SubGraphOp @b <CPU> {{ (%p:{0}) -> (%q:{0}) {{ {2} cf.ReturnOp (%q) -> () }} }}\n"
          "graph.SubGraphOp @c <CPU> {{ (%p:{0}) -> (%q:{0}) {{\n"
          "graph.CallGraphOp @a (%p) -> (%q:{0}) cf.ReturnOp (%q) -> () }} }}\n"
          "graph.SubGraphOp @d <CPU> {{ (%p:{0}) -> (%q:{0}) {{\n"
          "graph.CallGraphOp @b (%p) -> (%q:{0}) cf.ReturnOp (%q) -> () }} }}\n"
          "graph.CallGraphOp @c (%x) -> (%y:{0})\n"
          "graph.CallGraphOp @d (%y) -> (%z:{0})\ncf.ReturnOp (%z) -> ()\n}}\n",
          kF, first, second);
    };
    const auto graphs = [&](std::string_view first, std::string_view second) {
      const std::string text = after(module_of(first, second), "merge-graphs");
      std::string found;
      for (const char name : {'a', 'b', 'c', 'd'}) {
        if (has(text, fmt::format("SubGraphOp @{} ", name))) found += name;
      }
      return found;
    };
    CHECK(graphs("linalg.CPU.NegOp(%p) -> (%q)", "linalg.CPU.NegOp(%p) -> (%q)") == "ac");
    CHECK(graphs("linalg.CPU.NegOp(%p) -> (%q)", "linalg.CPU.AbsOp(%p) -> (%q)") == "abcd");
    CHECK(graphs("linalg.CPU.NegOp<name=\"m\">(%p) -> (%q)",
                 "linalg.CPU.NegOp<name=\"n\">(%p) -> (%q)") == "ac");
    CHECK(graphs("linalg.CPU.ClipOp [min_val:0.0, max_val:1.0] (%p) -> (%q)",
                 "linalg.CPU.ClipOp [min_val:0.0, max_val:2.0] (%p) -> (%q)") == "abcd");
    CHECK(graphs("linalg.CPU.AddOp(%p, %k:tensor<[1], Float32, CPU>[constant:[1]]) -> (%q)",
                 "linalg.CPU.AddOp(%p, %k:tensor<[1], Float32, CPU>[constant:[2]]) -> (%q)") ==
          "abcd");
    CHECK(graphs("linalg.CPU.NegOp(%p) -> (%r:tensor<[2], Float32, CPU>) linalg.CPU.SubOp(%p, %r) "
                 "-> (%q)",
                 "linalg.CPU.NegOp(%p) -> (%r:tensor<[2], Float32, CPU>) linalg.CPU.SubOp(%r, %p) "
                 "-> (%q)") == "abcd");
  }

  TEST_CASE("inputs are named after what reads them, outputs after a head") {
    const std::string rows = "tensor<[1, 4, 3, 8], Float32, CPU>";
    const std::string scores = "tensor<[1, 4, 3, 5], Float32, CPU>";
    const std::string text = fmt::format(
        R"(@main [mir_version:1] (%0:tensor<[1, 3], Int64, CPU>, %1:{0}, %2:tensor<[1, 3, 4], Float32, CPU>, %3:tensor<[1, 3, 4], Float32, CPU>, %4:tensor<[1, 4, 5, 8], Float32, CPU>, %5:tensor<[1, 4, 5, 8], Float32, CPU>, %6:tensor<[3, 5], Float32, CPU>, %7:{0}) -> (%20:tensor<[1, 4, 3, 16], Float32, CPU>, %21:tensor<[1, 3, 8], Float32, CPU>, %22:{0}) {{
    graph.SubGraphOp @init <CPU> {{
        () -> () {{
            tensor.CPU.register () -> (%w:tensor<[9, 8], Float32, CPU>[@embed.weight])[symbol:embed.weight]
            tensor.CPU.register () -> (%h:tensor<[16, 8], Float32, CPU>[@model.lm_head.weight])[symbol:model.lm_head.weight]
        }}
    }}
    graph.SubGraphOp @part <CPU> {{
        (%0:{0}, %1:tensor<[1, 3, 4], Float32, CPU>, %2:tensor<[1, 3, 4], Float32, CPU>, %3:tensor<[1, 4, 5, 8], Float32, CPU>, %4:tensor<[1, 4, 5, 8], Float32, CPU>, %5:tensor<[3, 5], Float32, CPU>) -> (%12:tensor<[1, 4, 3, 16], Float32, CPU>) {{
            linalg.CPU.RoPEOp [input_type:BHSD, partial_dim:-1] (%0, %1, %2) -> (%6:{0})
            linalg.CPU.MatMulOp [transpose_b:true] (%6, %3) -> (%7:{1})
            linalg.CPU.AddOp(%7, %5) -> (%8:{1})
            linalg.CPU.SoftmaxOp [axis:-1] (%8) -> (%9:{1})
            linalg.CPU.MatMulOp [transpose_b:false] (%9, %4) -> (%10:{0})
            linalg.CPU.LinearOp <name="model.lm_head"> [in_channels:8, out_channels:16, bias:false] (%10) -> (%12:tensor<[1, 4, 3, 16], Float32, CPU>)
            cf.ReturnOp (%12) -> ()
        }}
    }}
    linalg.CPU.EmbeddingOp <name="embed"> [vocab_size:9, hidden_size:8] (%0) -> (%21:tensor<[1, 3, 8], Float32, CPU>)
    graph.CallGraphOp @part (%1, %2, %3, %4, %5, %6) -> (%20:tensor<[1, 4, 3, 16], Float32, CPU>)
    linalg.CPU.NegOp(%7) -> (%22:{0})
    cf.ReturnOp (%20, %21, %22) -> ()
}}
)",
        rows, scores);
    const std::string named = after(text, "name-values");
    const std::string head = named.substr(0, named.find('\n'));
    std::string names;
    for (std::size_t at = head.find('%'); at != head.npos; at = head.find('%', at + 1)) {
      names += head.substr(at, head.find(':', at) - at) + " ";
    }
    CHECK(names == "%ids %arg1 %sin %cos %keys %values %mask %arg7 %logits %embed %neg ");
    CHECK(has(named, "(%arg0:" + rows + ", %sin:"));  // of the graph
    CHECK(after(named, "name-values") == named);
  }

  TEST_CASE("values get names of their own, words stay") {
    const std::string text = fmt::format(
        "@main [mir_version:1] (%0:{0}, %ids:{0}) -> (%5:{0}) {{\n"
        "linalg.CPU.AddOp(%0, %ids) -> (%1:{0})\n"
        "linalg.CPU.AddOp(%1, %ids) -> (%add_1:{0})\n"
        "linalg.CPU.AddOp(%add_1, %ids) -> (%3:{0})\n"
        "linalg.CPU.NegOp<name=\"m.0\">(%3) -> (%4:{0})\n"
        "linalg.CPU.NegOp<name=\"17\">(%4) -> (%5:{0})\ncf.ReturnOp (%5) -> ()\n}}\n",
        kF);
    const std::string named = after(text, "name-values");
    CHECK(has(named, "(%arg0:"));
    CHECK(has(named, "%ids"));
    CHECK(has(named, "-> (%add:"));
    CHECK(has(named, "-> (%add_1:"));
    CHECK(has(named, "-> (%add_2:"));
    CHECK(has(named, "-> (%m.0:"));
    CHECK(has(named, "-> (%v17:"));
    CHECK(after(named, "name-values") == named);
    const std::string numbered = after(named, "number-values");
    // Ports that are words stay.
    CHECK(has(numbered, "@main [mir_version:1] (%arg0:tensor<[2], Float32, CPU>, %ids:"));
    CHECK(has(numbered, "-> (%v17:tensor<[2], Float32, CPU>) {"));
    CHECK_FALSE(has(numbered, "%add"));
  }
}

}  // namespace standard_passes_test

// Modules that are split and linked, ops that are sunk, and costs of graphs.
#include <fmt/format.h>

#include "../ir/flow_dialect.hpp"
#include "known_passes.hpp"
#include "mir/ops.hpp"
#include "mir/verify.hpp"
#include "passes/estimate/cost.hpp"
#include "passes/extract/split_module.hpp"
#include "passes/link/link_modules.hpp"

using namespace mir;
using mir::test::FlowReading;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;

namespace modules_test {

namespace {

/// A module whose body calls two graphs, one of which calls the other.
std::string module_text(std::string_view name, std::string_view weight = "[2, 2], Float32") {
  return fmt::format(
      R"(@{0} [mir_version:1] (%x:tensor<[1, 2], Float32, CPU>) -> (%z:tensor<[1, 2], Float32, CPU>) {{
    graph.SubGraphOp @init <notype> {{
        () -> () {{
            tensor.CPU.register () -> (%w:tensor<{1}, CPU>[@up.weight])[symbol:up.weight]
        }}
    }}
    graph.SubGraphOp @up <CPU> {{
        (%a:tensor<[1, 2], Float32, CPU>) -> (%b:tensor<[1, 2], Float32, CPU>) {{
            linalg.CPU.LinearOp <name="up"> [in_channels:2, out_channels:2, bias:false] (%a) -> (%b:tensor<[1, 2], Float32, CPU>)
            cf.ReturnOp (%b) -> ()
        }}
    }}
    graph.SubGraphOp @twice <CPU> {{
        (%a:tensor<[1, 2], Float32, CPU>) -> (%c:tensor<[1, 2], Float32, CPU>) {{
            graph.CallGraphOp @up (%a) -> (%b:tensor<[1, 2], Float32, CPU>)
            graph.CallGraphOp @up (%b) -> (%c:tensor<[1, 2], Float32, CPU>)
            cf.ReturnOp (%c) -> ()
        }}
    }}
    graph.CallGraphOp @twice (%x) -> (%y:tensor<[1, 2], Float32, CPU>)
    linalg.CPU.NegOp(%y) -> (%z:tensor<[1, 2], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}}
)",
      name, weight);
}

/// Errors; that no call reaches a graph which was linked is a warning.
Lines problems_of(const Module& module) {
  Diagnostics found;
  if (verify(module, found)) return {};
  return test::lines_of(found, module.context());
}

Lines graphs_of(const Module& module) {
  Lines names;
  for (const Op* op : module.body().only_block().ops()) {
    if (isa<SubGraphOp>(op)) names.emplace_back(module.context().text(op->symbol()));
  }
  return names;
}

Lines body_of(const Module& module) {
  Lines names;
  for (const Op* op : module.body().only_block().ops()) {
    if (!isa<SubGraphOp>(op)) names.emplace_back(op->name());
  }
  return names;
}

struct Split {
  explicit Split(const Module& module, std::vector<std::string> selectors) {
    Diagnostics found;
    parts = split_module(module, selectors, found);
    problems = test::lines_of(found, module.context());
  }
  std::optional<std::vector<std::unique_ptr<Module>>> parts;
  Lines problems;
};

}  // namespace

TEST_SUITE("split-module") {
  TEST_CASE("each graph is a module with what it needs") {
    Reading reading(module_text("net"));
    const Split all(reading.module(), {"*"});
    REQUIRE(all.parts);
    REQUIRE(all.parts->size() == 3);
    Lines names;
    for (const auto& part : *all.parts) {
      CHECK(problems_of(*part) == Lines{});
      names.emplace_back(reading.context.text(part->name()));
    }
    CHECK(names == Lines{"net", "up", "twice"});
    CHECK(graphs_of(*(*all.parts)[1]) == Lines{"init"});
    CHECK(body_of(*(*all.parts)[1]) == Lines{"linalg.LinearOp", "cf.ReturnOp"});
    CHECK(body_of(*(*all.parts)[2]) ==
          Lines{"graph.CallGraphOp", "graph.CallGraphOp", "cf.ReturnOp"});
    CHECK((*all.parts)[2]->lookup_op(reading.context.intern("up")) != nullptr);
    CHECK((*all.parts)[2]->lookup_value(reading.context.intern("up.weight")) != nullptr);
  }

  TEST_CASE("selectors that match nothing and graphs of several blocks are refused") {
    Reading reading(module_text("net"));
    const Split wrong(reading.module(), {"twise"});
    CHECK_FALSE(wrong.parts);
    CHECK(wrong.problems == Lines{"1:1 MIR0920 the module has no graph that matches 'twise'"});
    FlowReading blocks(
        "@main [mir_version:1] (%x:$) -> (%y:$) {\n"
        "graph.SubGraphOp @f <CPU> { (%a:$) -> (%b:$) {\n"
        "  flow.br () -> () [^last()]\n"
        "^last():\n"
        "  linalg.CPU.NegOp (%a) -> (%b:$)\n"
        "  cf.ReturnOp (%b) -> () } }\n"
        "graph.CallGraphOp @f (%x) -> (%y:$)\ncf.ReturnOp (%y) -> ()\n}\n");
    const Split several(blocks.module(), {"f"});
    CHECK_FALSE(several.parts);
    REQUIRE(several.problems.size() == 1);
    CHECK(several.problems[0].ends_with("graph '@f' must have one block to become a module"));
  }

  TEST_CASE("modules keep declarations of symbols and the version that they need") {
    Reading reading(
        "@main [mir_version:2, symbols:{S:{max:8}}] (%x:tensor<[$S], Float32, CPU>) -> "
        "(%y:tensor<[$S], Float32, CPU>) {\n"
        "graph.SubGraphOp @f <CPU> { (%a:tensor<[$S], Float32, CPU>) -> "
        "(%b:tensor<[$S], Float32, CPU>) {\n"
        "linalg.CPU.NegOp (%a) -> (%b:tensor<[$S], Float32, CPU>)\ncf.ReturnOp (%b) -> ()\n} }\n"
        "graph.CallGraphOp @f (%x) -> (%y:tensor<[$S], Float32, CPU>)\ncf.ReturnOp (%y) -> "
        "()\n}\n");
    const Split split(reading.module(), {"f"});
    REQUIRE(split.parts);
    Reading part(print(*split.parts->front()));
    REQUIRE(part.errors() == Lines{});
    CHECK(part.module().version() == 2);
    CHECK(part.module().top()->attribute("symbols")->spelling() == R"({"S":{"max":8}})");
    CHECK(problems_of(part.module()) == Lines{});
  }

  TEST_CASE("a graph that takes symbols from around its calls is refused") {
    // @g takes $S and $T, @f only calls it.
    constexpr std::string_view kText = R"(
@main [mir_version:2] (%x:tensor<[$S, $T], Float32, CPU>) -> (%y:tensor<[1], Float32, CPU>) {
    graph.SubGraphOp @g <CPU> {
        (%a:tensor<[1], Float32, CPU>) -> (%b:tensor<[1], Float32, CPU>) {
            linalg.CPU.IotaOp [shape:[$S, $T], dtype:Float32, dim:0] () -> (%i:tensor<[$S, $T], Float32, CPU>)
            linalg.CPU.NegOp (%a) -> (%b:tensor<[1], Float32, CPU>)
            cf.ReturnOp (%b) -> ()
        }
    }
    graph.SubGraphOp @f <CPU> {
        (%c:tensor<[1], Float32, CPU>, %s:tensor<[$S], Float32, CPU>) -> (%d:tensor<[1], Float32, CPU>) {
            graph.CallGraphOp @g (%c) -> (%d:tensor<[1], Float32, CPU>)
            cf.ReturnOp (%d) -> ()
        }
    }
    linalg.CPU.ReduceSumOp [dim:1] (%x) -> (%s:tensor<[$S], Float32, CPU>)
    graph.CallGraphOp @f (%one:tensor<[1], Float32, CPU>[constant:[1]], %s) -> (%y:tensor<[1], Float32, CPU>)
    cf.ReturnOp (%y) -> ()
}
)";
    const std::string of_g =
        "3:5 MIR0920 graph '@g' must bind '$S', '$T' to become a module, it takes the value from "
        "around its calls";
    const std::string of_f =
        "10:5 MIR0920 graph '@f' must bind '$T' to become a module, it takes the value from around "
        "its calls";
    Reading reading{std::string(kText)};
    const Split split(reading.module(), {"f", "g"});
    CHECK_FALSE(split.parts);
    CHECK(split.problems == Lines{of_g, of_f});
    Passes passes;
    const auto refused = [&](std::string_view pass) {
      Reading again{std::string(kText)};
      return passes.run(again.module(), pass);
    };
    CHECK(refused("extract-graph{graph=g}") == Lines{of_g});
    CHECK(refused("extract-graph{graph=f}") == Lines{of_f});
  }
}

TEST_SUITE("link-modules") {
  TEST_CASE("bodies become graphs, and a parameter of several modules is one") {
    Reading reading(module_text("a") + module_text("b"));
    REQUIRE(reading.errors() == Lines{});
    Diagnostics found;
    const auto linked = link_modules(reading.modules, NameCollision::kRename, found);
    CHECK(test::lines_of(found, reading.context) == Lines{});
    REQUIRE(linked != nullptr);
    CHECK(problems_of(*linked) == Lines{});
    CHECK(reading.context.text(linked->name()) == "a");
    CHECK(graphs_of(*linked) == Lines{"init", "up", "twice", "up.1", "twice.1", "b"});
    // Calls follow the new names.
    const Op* graph = linked->lookup_op(reading.context.intern("b"));
    const Op* call = graph->first_region()->only_block().front();
    CHECK(reading.context.text(call->symbol()) == "twice.1");
    // The modules that are linked stay as they were.
    CHECK(print(*reading.modules[1]) == print(*Reading(module_text("b")).modules[0]));
    // Equal graphs can be merged then.
    Passes all;
    REQUIRE(all.run(*linked, "merge-graphs") == Lines{});
    CHECK(graphs_of(*linked) == Lines{"init", "up", "twice", "b"});
  }

  TEST_CASE("names that are taken and parameters of two types are refused") {
    Reading reading(module_text("a") + module_text("b"));
    Diagnostics taken;
    CHECK(link_modules(reading.modules, NameCollision::kRefuse, taken) == nullptr);
    const Lines lines = test::lines_of(taken, reading.context);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].find("MIR0406 graph '@up' has the name of a graph in module '@a'") !=
          std::string::npos);

    Reading types(module_text("a") + module_text("b", "[2, 2], BFloat16"));
    Diagnostics different;
    CHECK(link_modules(types.modules, NameCollision::kRename, different) == nullptr);
    const Lines found = test::lines_of(different, types.context);
    REQUIRE(found.size() == 1);
    CHECK(found[0].find("parameter '@up.weight' is tensor<[2, 2], BFloat16, CPU> here") !=
          std::string::npos);
  }

  TEST_CASE("declarations of symbols are joined, and a symbol that they tell apart is renamed") {
    const auto text = [](const std::string& name, const std::string& declared) {
      return "@" + name + " [mir_version:2, symbols:{" + declared +
             "}] (%x:tensor<[$S, $T], Float32, CPU>) -> (%y:tensor<[$S, $T], Float32, CPU>) {\n"
             "linalg.CPU.NegOp (%x) -> (%y:tensor<[$S, $T], Float32, CPU>)\n"
             "cf.ReturnOp (%y) -> ()\n}\n";
    };
    Reading reading(text("a", "S:{min:1}") + text("b", "T:{max:8},S:{min:1}"));
    REQUIRE(reading.errors() == Lines{});
    Diagnostics found;
    const auto linked = link_modules(reading.modules, NameCollision::kRename, found);
    REQUIRE(linked != nullptr);
    CHECK(linked->top()->attribute("symbols")->spelling() == R"({"S":{"min":1},"T_1":{"max":8}})");
    CHECK(problems_of(*linked) == Lines{});

    const std::string first = "@first [mir_version:1] () -> () {\ncf.ReturnOp () -> ()\n}\n";
    Reading versions(first + text("b", "S:{min:1}"));
    Diagnostics none;
    const auto later = link_modules(versions.modules, NameCollision::kRename, none);
    REQUIRE(later != nullptr);
    CHECK(later->version() == 2);
    CHECK(problems_of(*later) == Lines{});

    Reading others(text("a", "S:{min:1}") + text("b", "S:{min:2}"));
    Diagnostics different;
    const auto renamed = link_modules(others.modules, NameCollision::kRefuse, different);
    REQUIRE(renamed != nullptr);
    CHECK(renamed->top()->attribute("symbols")->spelling() == R"({"S":{"min":1},"S_1":{"min":2}})");
    CHECK(problems_of(*renamed) == Lines{});
    const Op* graph = renamed->lookup_op(others.context.intern("b"));
    CHECK(graph->first_region()->entry_arguments()[0].type()->spelling() ==
          "tensor<[$S_1, $T], Float32, CPU>");
  }

  TEST_CASE("relations of symbols are joined, and symbols that they tell apart are renamed") {
    const auto text = [](const std::string& name, const std::string& where) {
      return "@" + name + " [mir_version:2" + (where.empty() ? "" : ", where:" + where) +
             "] (%x:tensor<[$S, $T, $U], Float32, CPU>) -> (%y:tensor<[$S, $T, $U], Float32, CPU>) "
             "{\nlinalg.CPU.NegOp (%x) -> (%y:tensor<[$S, $T, $U], Float32, CPU>)\n"
             "cf.ReturnOp (%y) -> ()\n}\n";
    };
    const auto linked = [&](const std::string& one, const std::string& other) {
      Reading reading(text("a", one) + text("b", other));
      REQUIRE(reading.errors() == Lines{});
      Diagnostics found;
      const auto module = link_modules(reading.modules, NameCollision::kRename, found);
      REQUIRE(module != nullptr);
      CHECK(problems_of(*module) == Lines{});
      const Attr* where = module->top()->attribute("where");
      const Op* graph = module->lookup_op(reading.context.intern("b"));
      return fmt::format("{} {}", where == nullptr ? "none" : where->spelling(),
                         graph->first_region()->entry_arguments()[0].type()->spelling());
    };
    const std::string same = R"("$S <= $T")";
    CHECK(linked("", "") == "none tensor<[$S, $T, $U], Float32, CPU>");
    CHECK(linked(same, same) == R"("$S <= $T" tensor<[$S, $T, $U], Float32, CPU>)");
    CHECK(linked("", same) == R"(["$S_1 <= $T_1"] tensor<[$S_1, $T_1, $U], Float32, CPU>)");
    CHECK(linked(same, "") == R"("$S <= $T" tensor<[$S_1, $T_1, $U], Float32, CPU>)");
    // $U has the same relations in both, but to symbols that have other ones.
    CHECK(linked(R"(["$T <= $U"])", R"(["$T <= $U", "$S == 2*$T"])") ==
          R"(["$T <= $U", "$T_1 <= $U_1", "$S_1 == 2*$T_1"] )"
          "tensor<[$S_1, $T_1, $U_1], Float32, CPU>");
  }

  TEST_CASE("what is split can be linked again") {
    Reading reading(module_text("net"));
    const Split all(reading.module(), {"up", "twice"});
    std::vector<Module*> parts;
    for (const auto& part : *all.parts) parts.push_back(part.get());
    Diagnostics found;
    const auto linked = link_modules(parts, NameCollision::kRename, found);
    REQUIRE(linked != nullptr);
    CHECK(problems_of(*linked) == Lines{});
    CHECK(linked->lookup_value(reading.context.intern("up.weight")) != nullptr);
  }
}

TEST_SUITE("sink") {
  TEST_CASE("ops move to their first user where that costs no memory") {
    const std::string type = "tensor<[4], Float32, CPU>", one = "tensor<[1], Float32, CPU>";
    Reading reading(
        fmt::format("@main [mir_version:1] (%x:{0}) -> (%z:{0}, %s:{1}) {{\n"
                    "linalg.CPU.IotaOp [shape:[4], dtype:Float32, dim:0] () -> (%m:{0})\n"
                    "linalg.CPU.ExpOp(%x) -> (%e:{0})\n"
                    // Its operand ends here and is larger.
                    "linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%e) -> (%r:{1})\n"
                    "linalg.CPU.SinOp(%x) -> (%a:{0})\n"
                    "linalg.CPU.MulOp(%a, %m) -> (%z:{0})\n"
                    "linalg.CPU.NegOp(%r) -> (%s:{1})\n"
                    "cf.ReturnOp (%z, %s) -> ()\n}}\n",
                    type, one));
    Passes all;
    REQUIRE(all.run(reading.module(), "sink") == Lines{});
    CHECK(problems_of(reading.module()) == Lines{});
    CHECK(body_of(reading.module()) == Lines{"linalg.ExpOp", "linalg.ReduceSumOp", "linalg.SinOp",
                                             "linalg.IotaOp", "linalg.MulOp", "linalg.NegOp",
                                             "cf.ReturnOp"});
  }

  TEST_CASE("ops move into a region that runs at most once, but not into a loop") {
    const auto text = [](std::string_view region) {
      return "@main [mir_version:1] (%x:$, %c:$) -> (%z:$) {\n"
             "linalg.CPU.ExpOp (%x) -> (%e:$)\n" +
             std::string(region) + "cf.ReturnOp (%z) -> ()\n}\n";
    };
    FlowReading branch(
        text("flow.if () -> (%z:$) {\n"
             "() -> (%n:$) { linalg.CPU.NegOp (%e) -> (%n:$)\n flow.yield (%n) -> () }\n"
             "() -> (%c:$) { flow.yield (%c) -> () }\n}\n"));
    Passes all;
    REQUIRE(all.run(branch.module(), "sink") == Lines{});
    CHECK(body_of(branch.module()) == Lines{"flow.if", "cf.ReturnOp"});
    FlowReading loop(
        text("flow.loop (%x) -> (%z:$) {\n"
             "(%i:$) -> (%n:$) { linalg.CPU.AddOp (%i, %e) -> (%n:$)\n"
             " flow.yield (%n) -> () }\n}\n"));
    REQUIRE(all.run(loop.module(), "sink") == Lines{});
    CHECK(body_of(loop.module()) == Lines{"linalg.ExpOp", "flow.loop", "cf.ReturnOp"});
  }
}

TEST_SUITE("estimate") {
  TEST_CASE("calls have the work of their graphs, and graphs count their runs") {
    Reading reading(module_text("net"));
    const CostEstimate estimate(reading.module());
    REQUIRE(estimate.graphs().size() == 3);
    const std::int64_t once = 2 * 2 * 2;
    CHECK(estimate.body().work.flop == Dim(2 * once));
    CHECK(estimate.graphs()[1].work.flop == Dim(once));
    CHECK(estimate.graphs()[1].runs == Dim(2));
    CHECK(estimate.graphs()[2].runs == Dim(1));
    // The input and the result of one linear op. A caller holds the argument of the second call.
    CHECK(estimate.graphs()[1].peak == Dim(16));
    CHECK(estimate.graphs()[2].peak == Dim(24));
    CHECK(estimate.body().peak == Dim(24));
    CHECK(estimate.body().peak_without_inputs == Dim(16));
  }

  TEST_CASE("the peak counts inputs, and other values from their definition to their last use") {
    const auto peak = [](std::string_view ops) {
      std::string text = fmt::format(
          "@main [mir_version:1] (%x:tensor<[4], Float32, CPU>) -> (%z:tensor<[4], Float32, CPU>) "
          "{{\n{}cf.ReturnOp (%z) -> ()\n}}\n",
          ops);
      Reading reading(text);
      return CostEstimate(reading.module()).body().peak;
    };
    const std::string type = ":tensor<[4], Float32, CPU>";
    CHECK(peak("linalg.CPU.NegOp(%x) -> (%a" + type + ")\nlinalg.CPU.ExpOp(%a) -> (%z" + type +
               ")\n") == Dim(3 * 16));
    CHECK(peak("linalg.CPU.NegOp(%x) -> (%a" + type + ")\nlinalg.CPU.ExpOp(%x) -> (%b" + type +
               ")\nlinalg.CPU.AddOp(%a, %b) -> (%z" + type + ")\n") == Dim(4 * 16));
    // A view has the bytes of its operand.
    CHECK(peak("linalg.CPU.ViewOp [to_shape:[2, 2]] (%x) -> (%a:tensor<[2, 2], Float32, CPU>)\n"
               "linalg.CPU.ViewOp [to_shape:[4]] (%a) -> (%z" +
               type + ")\n") == Dim(16));
  }

  TEST_CASE("values inside of a fused op need no memory, graphs that it calls do") {
    const auto peak = [](std::string_view ops) {
      Reading reading(fmt::format(
          "@main [mir_version:2] (%x:tensor<[4], Float32, CPU>) -> (%z:tensor<[4], Float32, CPU>) "
          "{{\ngraph.SubGraphOp @net <CPU> {{\n"
          "(%i:tensor<[4], Float32, CPU>) -> (%o:tensor<[4], Float32, CPU>) {{\n"
          "linalg.CPU.NegOp(%i) -> (%m:tensor<[4], Float32, CPU>)\n"
          "linalg.CPU.ExpOp(%i) -> (%n:tensor<[4], Float32, CPU>)\n"
          "linalg.CPU.AddOp(%m, %n) -> (%o:tensor<[4], Float32, CPU>)\n"
          "cf.ReturnOp (%o) -> ()\n}}\n}}\n"
          "graph.FusedOp () -> (%z:tensor<[4], Float32, CPU>) {{\n"
          "() -> (%y:tensor<[4], Float32, CPU>) {{\n{}cf.YieldOp (%y) -> ()\n}}\n}}\n"
          "cf.ReturnOp (%z) -> ()\n}}\n",
          ops));
      return CostEstimate(reading.module()).body().peak;
    };
    const std::string type = ":tensor<[4], Float32, CPU>";
    CHECK(peak("linalg.CPU.NegOp(%x) -> (%a" + type + ")\nlinalg.CPU.ExpOp(%x) -> (%b" + type +
               ")\nlinalg.CPU.AddOp(%a, %b) -> (%y" + type + ")\n") == Dim(2 * 16));
    CHECK(peak("graph.CallGraphOp @net (%x) -> (%y" + type + ")\n") == Dim(4 * 16));
  }

  TEST_CASE("the work of loops has no number, their peak has one") {
    FlowReading loop(
        "@main [mir_version:1] (%x:$) -> (%z:$) {\nflow.loop (%x) -> (%z:$) {\n"
        "(%i:$) -> (%n:$) { linalg.CPU.NegOp (%i) -> (%n:$)\n flow.yield (%n) -> () }\n}\n"
        "cf.ReturnOp (%z) -> ()\n}\n");
    const CostEstimate estimate(loop.module());
    CHECK(estimate.body().work.read.is_unknown());
    CHECK(estimate.body().peak == Dim(3 * 8));
    CHECK(estimate.body().ops.front().work.read == Dim(8));
  }

  TEST_CASE("the peak of several blocks is the greatest of them") {
    FlowReading blocks(
        "@main [mir_version:1] () -> () {\nflow.graph @f { (%x:$) -> (%r:$) {\n"
        "  linalg.CPU.NegOp (%x) -> (%a:$)\n  flow.br () -> () [^next()]\n^next():\n"
        "  linalg.CPU.ExpOp (%x) -> (%b:$)\n  linalg.CPU.SinOp (%b) -> (%c:$)\n"
        "  linalg.CPU.AddOp (%a, %c) -> (%r:$)\n  cf.ReturnOp (%r) -> () } }\n"
        "cf.ReturnOp () -> ()\n}\n");
    const CostEstimate estimate(blocks.module());
    REQUIRE(estimate.graphs().size() == 2);
    // %x, %a, which two blocks use, %b and %c.
    CHECK(estimate.graphs()[1].peak == Dim(4 * 8));
  }

  TEST_CASE("symbolic peaks are compared for all values of the symbols") {
    const auto peak = [](std::string_view ops) {
      Reading reading(fmt::format(
          "@main [mir_version:1] (%x:tensor<[$S, 4], Float32, CPU>) -> (%z:tensor<[$S, 4], "
          "Float32, CPU>) {{\n{}cf.ReturnOp (%z) -> ()\n}}\n",
          ops));
      const CostEstimate estimate(reading.module());
      return estimate.body().peak.print(reading.context.dims());
    };
    const std::string type = ":tensor<[$S, 4], Float32, CPU>";
    CHECK(peak("linalg.CPU.NegOp(%x) -> (%z" + type + ")\n") == "32*$S");
    const std::string large =
        "linalg.CPU.IotaOp [shape:[64], dtype:Float32, dim:0] () -> "
        "(%l:tensor<[64], Float32, CPU>)\n";
    CHECK(peak(large + "linalg.CPU.NegOp(%x) -> (%a" + type + ")\nlinalg.CPU.AddOp(%a, %x) -> (%z" +
               type + ")\n") == "max(16*$S+256, 48*$S)");
  }

  TEST_CASE("the attributes are written once, and removed") {
    Reading reading(module_text("net"));
    const std::string before = print(reading.module());
    Passes all;
    REQUIRE(all.run(reading.module(), "estimate") == Lines{});
    CHECK(problems_of(reading.module()) == Lines{});
    const std::string marked = print(reading.module());
    CHECK(marked.find("flop:16, bytes_read:48, bytes_written:16, peak_bytes:24") !=
          std::string::npos);
    REQUIRE(all.run(reading.module(), "estimate{remove}") == Lines{});
    CHECK(print(reading.module()) == before);
  }
}

}  // namespace modules_test

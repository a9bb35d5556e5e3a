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
        "@main [mir_version:1] () -> () {\nflow.graph @f { (%x:$) -> (%r:$) {\n"
        "  linalg.CPU.NegOp (%x) -> (%a:$)\n  flow.br () -> () [^next()]\n^next():\n"
        "  linalg.CPU.ExpOp (%x) -> (%b:$)\n  linalg.CPU.SinOp (%b) -> (%c:$)\n"
        "  linalg.CPU.AddOp (%a, %c) -> (%r:$)\n  cf.ReturnOp (%r) -> () } }\n"
        "cf.ReturnOp () -> ()\n}\n");
    const CostEstimate estimate(blocks.module());
    REQUIRE(estimate.graphs().size() == 2);
    // %x, %a and %b; then %a, %c and %r.
    CHECK(estimate.graphs()[1].peak == Dim(3 * 8));
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
    CHECK(marked.find("flop:16, bytes_read:48, bytes_written:16, peak_bytes:16") !=
          std::string::npos);
    REQUIRE(all.run(reading.module(), "estimate{remove}") == Lines{});
    CHECK(print(reading.module()) == before);
  }
}

}  // namespace modules_test

// A pass on a graph edits nothing but that graph.
#include <algorithm>
#include <functional>
#include <set>

#include "known_passes.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/verify.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::ops_of;
using mir::test::Passes;
using mir::test::Reading;

namespace graph_scope_test {

namespace {

std::string with_types(std::string text) {
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at)) {
      text.replace(at, from.size(), to);
    }
  };
  replace("$v", "tensor<[4], Float32, CPU>");
  replace("$i", "tensor<[1], Int32, CPU>");
  replace("$c", "tensor<[1], Bool, CPU>");
  return text;
}

/// Something to do for most passes: a short loop, a decided condition, a fused op, an op twice, and
/// one that is dead.
constexpr std::string_view kOps =
    "cf.ForOp (%l:$i[constant:[0]], %n:$i[constant:[2]], %s:$i[constant:[1]], %x) -> (%a:$v) {\n"
    "(%i:$i, %p:$v) -> (%q:$v) {\n"
    "linalg.CPU.ExpOp (%x) -> (%e:$v)\nlinalg.CPU.MulOp (%p, %e) -> (%q:$v)\n"
    "cf.YieldOp (%q) -> ()\n} }\n"
    "cf.IfOp (%t:$c[constant:[true]]) -> (%b:$v) {\n"
    "() -> (%r:$v) {\nlinalg.CPU.SinOp (%a) -> (%r:$v)\ncf.YieldOp (%r) -> ()\n}\n"
    "() -> (%a) {\ncf.YieldOp (%a) -> ()\n} }\n"
    "graph.FusedOp () -> (%f:$v) {\n() -> (%g:$v) {\nlinalg.CPU.ReLUOp (%b) -> (%g:$v)\n"
    "cf.YieldOp (%g) -> ()\n} }\n"
    "linalg.CPU.NegOp (%f) -> (%h:$v)\nlinalg.CPU.NegOp (%f) -> (%j:$v)\n"
    "linalg.CPU.CosOp (%x) -> (%dead:$v)\nlinalg.CPU.AddOp (%h, %j) -> (%y:$v)\n"
    "cf.ReturnOp (%y) -> ()\n";

/// The ops in the body, in graph @g, and in graph @h inside that.
std::string nested_graphs() {
  const std::string ops(kOps), open = " <CPU> {\n(%x:$v) -> (%y:$v) {\n", close = "}\n}\n";
  return with_types("@main [mir_version:2] (%x:$v) -> (%y:$v) {\ngraph.SubGraphOp @g" + open +
                    "graph.SubGraphOp @h" + open + ops + close + ops + close + ops + "}\n");
}

/// The lines of a graph in a printed module.
std::string section(const std::string& text, std::string_view graph) {
  const auto head = text.find("graph.SubGraphOp @" + std::string(graph));
  REQUIRE(head != text.npos);
  const auto line = text.rfind('\n', head) + 1;
  const std::string end = "\n" + std::string(head - line, ' ') + "}\n";
  return text.substr(line, text.find(end, head) + end.size() - line);
}

std::string without(std::string text, const std::string& part) {
  return text.erase(text.find(part), part.size());
}

/// After the pipeline, which must succeed.
std::string after(const std::string& text, std::string_view pipeline) {
  Reading reading(text);
  Passes all;
  CHECK(all.run(reading.module(), pipeline) == Lines{});
  Diagnostics problems;
  CHECK(verify(reading.module(), problems));
  return print(reading.module());
}

}  // namespace

TEST_SUITE("scope of passes on graphs") {
  TEST_CASE("no pass edits a graph that is not selected") {
    const std::string text = nested_graphs();
    std::set<std::string, std::less<>> active;
    const Passes known;
    for (const auto& each : known.registry.passes()) {
      const Pass& pass = each.second;
      const std::string& name = pass.name;
      if (pass.anchor == Anchor::kModule || pass.takes == PassForm::kDump) continue;
      // The text has no op of the kind.
      if (pass.op == "linalg.GenericOp" || pass.op == "loop.KernelOp") continue;
      CAPTURE(name);
      for (const std::string graph : {"main", "g", "h"}) {
        CAPTURE(graph);
        Reading reading(text);
        const std::string before = print(reading.module());
        Passes all;
        CHECK(all.run(reading.module(), "graph(@" + graph + ":" + name + ")") == Lines{});
        const std::string now = print(reading.module());
        if (now != before) active.insert(name);
        if (graph == "main") {
          CHECK(section(now, "g") == section(before, "g"));
          continue;
        }
        if (graph == "g") CHECK(section(now, "h") == section(before, "h"));
        CHECK(without(now, section(now, graph)) == without(before, section(before, graph)));
      }
    }
    for (const std::string_view each :
         {"cse", "eliminate-dead-ops", "hoist-invariants", "simplify", "simplify-control-flow",
          "structure-to-blocks", "unfuse", "unroll-loops"}) {
      CAPTURE(each);
      CHECK(active.contains(each));
    }
  }

  TEST_CASE("what a pass knows of one graph holds after passes on others") {
    const auto dead_in = [](const std::string& text) {
      return section(text, "h").find("linalg.CPU.CosOp") != std::string::npos;
    };
    CHECK(dead_in(after(nested_graphs(), "graph(@main:eliminate-dead-ops,unroll-loops)")));
    CHECK_FALSE(dead_in(after(nested_graphs(),
                              "graph(@h:eliminate-dead-ops),graph(@main:simplify-control-flow),"
                              "graph(@h:eliminate-dead-ops)")));
    for (const std::string_view each : {"simplify-control-flow", "structure-to-blocks", "unfuse",
                                        "unroll-loops", "blocks-to-structure"}) {
      CAPTURE(each);
      const std::string pipeline =
          "structure-to-blocks,graph(@h:cse,eliminate-dead-ops),graph(@g:" + std::string(each) +
          "),graph(@h:cse,eliminate-dead-ops)";
      CHECK_FALSE(dead_in(after(nested_graphs(), pipeline)));
    }
  }

  TEST_CASE("an edit outside the graph of a pass is refused in every build") {
    struct Case {
      std::string name;
      std::function<void(Rewriter&, Op& graph)> edit;
      std::string refused;  ///< empty: the edit is inside
    };
    const auto mark = [](Rewriter& rewriter, Op& op) {
      rewriter.set_attribute(op, rewriter.context().intern("using_qnn"),
                             rewriter.context().boolean(true));
    };
    const auto inner = [](Op& graph) -> Op& {
      const std::vector<Op*> ops = ops_of(*graph.region());
      return **std::ranges::find(ops, "linalg.CosOp", &Op::name);
    };
    const auto outer = [](Op& graph) -> Op& { return *graph.parent_region()->entry()->back(); };
    const std::vector<Case> cases = {
        {"own-op", [&](Rewriter& rewriter, Op& graph) { mark(rewriter, inner(graph)); }, ""},
        // Other graphs may call it.
        {"inner-graph",
         [&](Rewriter& rewriter, Op& graph) { rewriter.erase(*graph.region()->entry()->front()); },
         "cf.ForOp"},
        {"graph-itself", mark, "graph.SubGraphOp"},
        {"op-around", [&](Rewriter& rewriter, Op& graph) { mark(rewriter, outer(graph)); },
         "cf.ReturnOp"},
        {"new-op-around",
         [&](Rewriter& rewriter, Op& graph) {
           rewriter.set_insertion_point(outer(graph));
           rewriter.create({.name = inner(graph).op_name(),
                            .operands = std::vector{outer(graph).operand(0)},
                            .result_types = std::vector{outer(graph).operand(0)->type()}});
         },
         "linalg.CosOp"},
        {"value-around",
         [&](Rewriter& rewriter, Op& graph) {
           rewriter.set_name(*outer(graph).operand(0), ValueName::number(77));
         },
         "linalg.AddOp"},
        {"op-in-inner-graph",
         [&](Rewriter& rewriter, Op& graph) {
           rewriter.erase(inner(*graph.region()->entry()->front()));
         },
         "linalg.CosOp"},
        {"block-in-inner-graph",
         [&](Rewriter& rewriter, Op& graph) {
           rewriter.create_block(*graph.region()->entry()->front()->region());
         },
         "graph.SubGraphOp"},
        {"op-moved-out",
         [&](Rewriter& rewriter, Op& graph) { rewriter.move_before(inner(graph), outer(graph)); },
         "linalg.CosOp"},
    };
    for (const Case& each : cases) {
      for (const bool checks : {true, false}) {
        Passes all;
        all.registry.add({.name = each.name,
                          .summary = "edits",
                          .anchor = Anchor::kGraph,
                          .run = [&](PassRun& run) {
                            Rewriter rewriter(run.module());
                            each.edit(rewriter, run.anchor());
                            return run.result();
                          }});
        Reading reading(nested_graphs());
        const Lines found =
            all.run(reading.module(), "graph(@g:" + each.name + ")", {.checks_claims = checks});
        CAPTURE(each.name);
        if (each.refused.empty()) {
          CHECK(found == Lines{});
        } else {
          REQUIRE(found.size() == 1);
          CHECK(found.front() == test::Part{"MIR0921 pass '" + each.name + "' edits '" +
                                            each.refused + "' outside the graph on which it runs"});
        }
      }
    }
  }
}

TEST_SUITE("graphs inside graphs") {
  const std::string kInner =
      "graph.SubGraphOp @outer <CPU> {\n(%x:$v) -> (%y:$v) {\n"
      "graph.SubGraphOp @inner <CPU> {\n(%x:$v) -> (%y:$v) {\nlinalg.CPU.ExpOp (%x) -> (%y:$v)\n"
      "cf.ReturnOp (%y) -> ()\n}\n}\n"
      "graph.CallGraphOp @inner (%x) -> (%y:$v)\ncf.ReturnOp (%y) -> ()\n}\n}\n";

  TEST_CASE("a copy of a graph leaves the graphs inside it where they are") {
    const std::string text =
        with_types("@main [mir_version:2] (%x:$v) -> (%z:$v) {\n" + kInner +
                   "graph.CallGraphOp @outer (%x) -> (%y:$v)\n"
                   "graph.CallGraphOp @outer (%y) -> (%z:$v)\ncf.ReturnOp (%z) -> ()\n}\n");
    const std::string inlined = after(text, "inline{keep=outer}");
    CHECK(inlined.find("@inner", inlined.find("SubGraphOp @inner") + 20) == std::string::npos);
  }

  TEST_CASE("what blocks declare does not get into conditions and loops") {
    const std::string text = with_types(
        "@main [mir_version:2] (%c:$c, %x:$v) -> (%y:$v) {\n"
        "cf.CondBranchOp (%c) -> () [^yes, ^end(%x)]\n^yes:\n" +
        kInner +
        "graph.CallGraphOp @outer (%x) -> (%z:$v)\n"
        "cf.BranchOp () -> () [^end(%z)]\n^end(%y:$v):\ncf.ReturnOp (%y) -> ()\n}\n");
    const std::string structured = after(text, "blocks-to-structure");
    CHECK(structured.find("cf.IfOp") != std::string::npos);
    CHECK(structured.find("SubGraphOp @outer") < structured.find("cf.IfOp"));
  }
}

}  // namespace graph_scope_test

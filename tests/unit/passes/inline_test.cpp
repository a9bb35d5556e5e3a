// Inlining of calls and of regions that run once; folds that rows declare.
#include <fmt/format.h>

#include "../ir/flow_dialect.hpp"
#include "known_passes.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"

using namespace mir;
using mir::test::FlowReading;
using mir::test::Lines;
using mir::test::Passes;

namespace inline_test {

namespace {

/// The names of the ops of a module's body after the passes.
Lines names_after(FlowReading& reading, std::string_view pipeline) {
  Passes all;
  const Lines problems = all.run(reading.module(), pipeline);
  if (!problems.empty()) return problems;
  Diagnostics found;
  verify(reading.module(), found);
  CHECK(test::lines_of(found, reading.context) == Lines{});
  Lines names;
  for (const Op* op : test::ops_of(reading.module().body())) names.emplace_back(op->name());
  return names;
}

constexpr std::string_view kTwice =
    "@main [mir_version:1] (%x:$) -> (%z:$) {\n"
    "graph.SubGraphOp @outer <CPU> { (%a:$) -> (%c:$) {\n"
    "  graph.CallGraphOp @inner (%a) -> (%b:$)\n"
    "  graph.CallGraphOp @inner (%b) -> (%c:$)\n"
    "  cf.ReturnOp (%c) -> () } }\n"
    "graph.SubGraphOp @inner <CPU> { (%d:$) -> (%f:$) {\n"
    "  linalg.CPU.MulOp (%d, %k:$[constant:[2.0, 3.0]]) -> (%e:$)\n"
    "  linalg.CPU.NegOp (%e) -> (%f:$)\n"
    "  cf.ReturnOp (%f) -> () } }\n"
    "graph.CallGraphOp @outer (%x) -> (%z:$)\n"
    "cf.ReturnOp (%z) -> ()\n}\n";

}  // namespace

TEST_SUITE("inline") {
  TEST_CASE("calls become the bodies of their graphs, callees first") {
    FlowReading reading{std::string(kTwice)};
    CHECK(names_after(reading, "inline,eliminate-unused-graphs") ==
          Lines{"linalg.MulOp", "linalg.NegOp", "linalg.MulOp", "linalg.NegOp", "cf.ReturnOp"});
    // One constant serves both copies.
    CHECK(reading.module().body().free_values().size() == 1);
    const auto ops = test::ops_of(reading.module().body());
    CHECK(ops[2]->operand(0) == ops[1]->result());
    CHECK(reading.context.locations().kind(ops[0]->location()) == LocationKind::kCallSite);
  }

  TEST_CASE("only graphs that one op calls, if so asked") {
    FlowReading reading{std::string(kTwice)};
    CHECK(names_after(reading, "inline{once},eliminate-unused-graphs") ==
          Lines{"graph.SubGraphOp", "graph.CallGraphOp", "graph.CallGraphOp", "cf.ReturnOp"});
  }

  TEST_CASE("graphs whose calls are all replaced are erased, if so asked; the last call moves") {
    const auto text_after = [](std::string_view pipeline) {
      FlowReading reading{std::string(kTwice)};
      Passes all;
      CHECK(all.run(reading.module(), pipeline) == Lines{});
      return print(reading.module());
    };
    CHECK(text_after("inline{erase}") == text_after("inline,eliminate-unused-graphs"));

    FlowReading reading{std::string(kTwice)};
    const Op* const inner = reading.module().lookup_symbol("inner").op;
    const Op* const last = test::ops_of(*inner->first_region())[1];
    CHECK(names_after(reading, "inline{erase}").size() == 5);
    CHECK(test::ops_of(reading.module().body())[3] == last);
    CHECK(reading.module().lookup_symbol("inner").op == nullptr);
  }

  TEST_CASE("graphs that are to be kept are inlined and stay; each must be one of the module's") {
    FlowReading reading{std::string(kTwice)};
    Passes all;
    CHECK(all.run(reading.module(), "inline{erase,keep=inner}") == Lines{});
    CHECK(reading.module().lookup_symbol("inner").op != nullptr);
    CHECK(test::ops_of(reading.module().body()).size() == 6);
    const Lines problems = all.run(reading.module(), "inline{erase,keep=[inner,iner]}");
    REQUIRE(problems.size() == 1);
    CHECK(problems.front() == test::Part{"the module has no graph '@iner'"});
  }

  TEST_CASE("calls that multiply without end are left when the module has grown enough") {
    std::string text = "@main [mir_version:1] (%x:$) -> (%z:$) {\n";
    constexpr int kLevels = 40;
    for (int level = 0; level < kLevels; ++level) {
      const std::string inner = level == 0 ? "" : "f" + std::to_string(level - 1);
      const std::string op = level == 0 ? "linalg.CPU.NegOp" : "graph.CallGraphOp @" + inner;
      text += "graph.SubGraphOp @f" + std::to_string(level) + " <CPU> { (%a:$) -> (%c:$) {\n" + op +
              " (%a) -> (%b:$)\n" + op + " (%b) -> (%c:$)\ncf.ReturnOp (%c) -> () } }\n";
    }
    text += "graph.CallGraphOp @f" + std::to_string(kLevels - 1) +
            " (%x) -> (%z:$)\ncf.ReturnOp (%z) -> ()\n}\n";
    FlowReading reading(text);
    Passes all;
    CHECK(all.run(reading.module(), "inline{erase}") == Lines{});
    std::size_t ops = 0, calls = 0;
    for_each_op(reading.module(), [&](const Op& op) {
      ++ops;
      calls += op.is(OpId::kGraphCallGraph) ? 1 : 0;
    });
    CHECK(ops > 100'000);
    CHECK(ops < 300'000);
    CHECK(calls > 0);
  }

  TEST_CASE("graphs with other calls, graphs around graphs and those of a library stay") {
    // @loop calls itself; @around has a graph inside.
    FlowReading reading(
        "@main [mir_version:1] (%x:$) -> (%z:$) {\n"
        "graph.SubGraphOp @loop <CPU> { (%a:$) -> (%b:$) {\n"
        "  graph.CallGraphOp @leaf (%a) -> (%c:$)\n"
        "  graph.CallGraphOp @loop (%c) -> (%b:$)\n"
        "  cf.ReturnOp (%b) -> () } }\n"
        "graph.SubGraphOp @leaf <CPU> { (%d:$) -> (%e:$) {\n"
        "  linalg.CPU.NegOp (%d) -> (%e:$)\n"
        "  cf.ReturnOp (%e) -> () } }\n"
        "graph.SubGraphOp @around <CPU> { (%f:$) -> (%g:$) {\n"
        "  graph.SubGraphOp @inside <CPU> { (%h:$) -> (%h2:$) {\n"
        "    linalg.CPU.AbsOp (%h) -> (%h2:$)\n"
        "    cf.ReturnOp (%h2) -> () } }\n"
        "  graph.CallGraphOp @inside (%f) -> (%g:$)\n"
        "  cf.ReturnOp (%g) -> () } }\n"
        "graph.CallGraphOp @loop (%x) -> (%y:$)\n"
        "graph.CallGraphOp @around (%y) -> (%z:$)\n"
        "cf.ReturnOp (%z) -> ()\n}\n");
    Passes all;
    CHECK(all.run(reading.module(), "inline{erase}") == Lines{});
    const Module& module = reading.module();
    CHECK(module.lookup_symbol("leaf").op == nullptr);
    CHECK(module.lookup_symbol("inside").op == nullptr);
    CHECK(module.lookup_symbol("loop").op != nullptr);
    CHECK(module.lookup_symbol("around").op != nullptr);

    FlowReading library(
        "@main [mir_version:1] () -> () {\n"
        "graph.SubGraphOp @one <CPU> { (%a:$) -> (%b:$) {\n"
        "  graph.CallGraphOp @two (%a) -> (%b:$)\n"
        "  cf.ReturnOp (%b) -> () } }\n"
        "graph.SubGraphOp @two <CPU> { (%d:$) -> (%e:$) {\n"
        "  linalg.CPU.NegOp (%d) -> (%e:$)\n"
        "  cf.ReturnOp (%e) -> () } }\n"
        "cf.ReturnOp () -> ()\n}\n");
    CHECK(names_after(library, "inline{erase}") ==
          Lines{"graph.SubGraphOp", "graph.SubGraphOp", "cf.ReturnOp"});
  }

  TEST_CASE("a graph that calls itself, and one of several blocks, is not inlined") {
    FlowReading reading(
        "@main [mir_version:1] (%x:$) -> () {\n"
        "graph.SubGraphOp @f <CPU> { (%a:$) -> (%b:$) {\n"
        "  flow.br () -> () [^end(%a)]\n"
        "^end(%b:$):\n  cf.ReturnOp (%b) -> () } }\n"
        "graph.CallGraphOp @f (%x) -> (%y:$)\n"
        "cf.ReturnOp () -> ()\n}\n");
    CHECK(names_after(reading, "inline") ==
          Lines{"graph.SubGraphOp", "graph.CallGraphOp", "cf.ReturnOp"});
  }

  TEST_CASE("calls and graphs of another dialect are inlined by their rows") {
    FlowReading reading(
        "@main [mir_version:1] (%x:$) -> (%z:$) {\n"
        "flow.graph @g { (%a:$) -> () {\n"
        "  linalg.CPU.NegOp (%a) -> (%b:$)\n  flow.yield (%b) -> () } }\n"
        "flow.call (%x) -> (%z:$) [callee:@g]\n"
        "cf.ReturnOp (%z) -> ()\n}\n");
    Passes all;
    CHECK(all.run(reading.module(), "inline") == Lines{});
    Lines names;
    for (const Op* op : test::ops_of(reading.module().body())) names.emplace_back(op->name());
    CHECK(names == Lines{"flow.graph", "linalg.NegOp", "cf.ReturnOp"});
  }

  TEST_CASE("a region that runs exactly once takes the place of its op, a loop stays") {
    FlowReading reading(
        "@main [mir_version:1] (%x:$) -> (%z:$) {\n"
        "flow.scope (%x) -> (%y:$) { (%a:$) -> () {\n"
        "  flow.scope () -> (%c:$) { () -> () {\n"
        "    linalg.CPU.NegOp (%a) -> (%b:$)\n    flow.yield (%b) -> () } }\n"
        "  flow.yield (%c) -> () } }\n"
        "flow.loop (%y) -> (%z:$) { (%d:$) -> () {\n"
        "  linalg.CPU.AbsOp (%d) -> (%e:$)\n  flow.yield (%e) -> () } }\n"
        "cf.ReturnOp (%z) -> ()\n}\n");
    Passes all;
    CHECK(all.run(reading.module(), "inline") == Lines{});
    const auto ops = test::ops_of(reading.module().body());
    Lines names;
    for (const Op* op : ops) names.emplace_back(op->name());
    CHECK(names == Lines{"linalg.NegOp", "flow.loop", "cf.ReturnOp"});
    CHECK(ops[0]->operand(0) == &reading.module().body().entry_arguments()[0]);
    CHECK(ops[1]->operand(0) == ops[0]->result());
  }

  TEST_CASE("a region that gets or returns more than its op's values stays") {
    for (const char* name : {"scope", "indexed", "counted", "partial"}) {
      CAPTURE(name);
      FlowReading reading(
          fmt::format("@main [mir_version:1] (%x:$) -> (%z:$) {{\n"
                      "flow.{} (%x) -> (%z:$) {{ ({}%a:$) -> () {{\n"
                      "  linalg.CPU.NegOp (%a) -> (%b:$)\n  flow.yield (%b) -> () }} }}\n"
                      "cf.ReturnOp (%z) -> ()\n}}\n",
                      name, std::string_view(name) == "indexed" ? "%i:$, " : ""));
      Passes all;
      CHECK(all.run(reading.module(), "inline") == Lines{});
      const bool is_inlined =
          test::ops_of(reading.module().body()).front()->name() == "linalg.NegOp";
      CHECK(is_inlined == (std::string_view(name) == "scope"));
    }
  }
}

TEST_SUITE("folds of rows") {
  TEST_CASE("an op folds to an existing value or to a constant, as its row says") {
    FlowReading reading(
        "@main [mir_version:1] (%x:$) -> (%z:$) {\n"
        "flow.half (%x) -> (%a:$)\n"
        "flow.half (%a) -> (%b:$)\n"
        "flow.half (%k:$[constant:[1.0, 2.0]]) -> (%c:$)\n"
        "linalg.CPU.AddOp (%b, %c) -> (%z:$)\n"
        "cf.ReturnOp (%z) -> ()\n}\n");
    Passes all;
    CHECK(all.run(reading.module(), "simplify") == Lines{});
    const auto ops = test::ops_of(reading.module().body());
    REQUIRE(ops.size() == 2);
    CHECK(ops[0]->operand(0) == &reading.module().body().entry_arguments()[0]);
    CHECK(ops[0]->operand(1)->is_free());
  }
}

}  // namespace inline_test

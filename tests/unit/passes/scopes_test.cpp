// Owners of symbols in blocks, regions and graphs that call others, and passes that ask for them.
#include <fmt/format.h>

#include "ir/call_types.hpp"
#include "ir/symbol_scopes.hpp"
#include "known_passes.hpp"
#include "mir/control_flow.hpp"
#include "mir/walk.hpp"
#include "passes/estimate/cost.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Part;
using mir::test::Passes;
using mir::test::Reading;

namespace scopes_test {

namespace {

constexpr std::string_view kFlag = "%c:tensor<[1], Bool, CPU>";

std::string rows(std::string_view value, std::string_view extent) {
  return fmt::format("%{}:tensor<[{}, 2], Float32, CPU>", value, extent);
}
std::string iota(std::string_view value, std::string_view extent) {
  return fmt::format("linalg.CPU.IotaOp [shape:[{}, 2], dtype:Float32, dim:0] () -> ({})\n", extent,
                     rows(value, extent));
}
/// Rows of a value under a new symbol.
std::string compress(std::string_view from, std::string_view value, std::string_view symbol) {
  return fmt::format(
      "linalg.CPU.ReduceMaxOp [dim:1] (%{0}) -> (%max_{1})\n"
      "linalg.CPU.GreaterOp (%max_{1}, %zero:tensor<[1], Float32, CPU>[constant:[0.0]]) -> "
      "(%mask_{1})\nlinalg.CPU.CompressOp [dim:0] (%{0}, %mask_{1}) -> ({2})\n",
      from, value, rows(value, symbol));
}
std::string sum(std::string_view from, std::string_view value) {
  return fmt::format("linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%{}) -> ({})\n", from,
                     rows(value, "1"));
}
std::string graph(std::string_view name, const std::string& arguments, const std::string& result,
                  const std::string& ops) {
  return fmt::format("graph.SubGraphOp @{} <CPU> {{\n({}) -> ({}) {{\n{}}}\n}}\n", name, arguments,
                     result, ops);
}
/// A module that takes a condition, %x of $S rows and %y of $T rows.
std::string module_text(const std::string& result, const std::string& ops) {
  return fmt::format("@main [mir_version:2] ({}, {}, {}) -> ({}) {{\n{}}}\n", kFlag,
                     rows("x", "$S"), rows("y", "$T"), result, ops);
}

Region& body_of(Module& module, std::string_view name) {
  return *module.lookup_symbol(name).op->first_region();
}
bool owns(Module& module, const Region& region, std::string_view symbol) {
  return symbols_owned_by(region).contains(module.context().intern(symbol));
}
const Op& only_call(const Module& module) {
  const Op* found = nullptr;
  for_each_op(module, [&](const Op& op) { found = callee_of(op) ? &op : found; });
  REQUIRE(found != nullptr);
  return *found;
}
Lines errors_of(const Module& module) {
  Diagnostics found;
  return verify(module, found) ? Lines() : test::lines_of(found, module.context());
}

/// Two ways to a block that takes rows, and rows of $N before it, all of which @g has from around.
std::string blocks(std::string_view name, std::string_view second, std::string_view extent) {
  const std::string arguments = fmt::format("{}, {}", kFlag, rows("a", "$M"));
  return graph(
      name, arguments, rows("r", "1"),
      iota("n", "$N") + "cf.CondBranchOp (%c) -> () [^up, ^down]\n^up:\n" +
          "cf.BranchOp () -> () [^end(%n)]\n^down:\n" +
          fmt::format("cf.BranchOp () -> () [^end(%{})]\n^end({}):\n", second, rows("w", extent)) +
          sum("w", "r") + "cf.ReturnOp (%r) -> ()\n");
}

}  // namespace

TEST_SUITE("owners of symbols") {
  TEST_CASE("a block joins a symbol only where a branch passes another extent") {
    const std::string ops =
        "graph.CallGraphOp @g (%c, %y) -> (" + rows("z", "1") + ")\ncf.ReturnOp (%z) -> ()\n";
    Reading same(module_text(rows("z", "1"), iota("n", "$S") + blocks("g", "n", "$N") + ops));
    CHECK_FALSE(owns(same.module(), body_of(same.module(), "g"), "N"));
    Reading joined(module_text(rows("z", "1"), blocks("g", "a", "$K") + ops));
    CHECK(owns(joined.module(), body_of(joined.module(), "g"), "K"));
    CHECK_FALSE(owns(joined.module(), body_of(joined.module(), "g"), "N"));
  }

  TEST_CASE("a region owns what its blocks join") {
    Reading reading(module_text(
        rows("z", "1"),
        "cf.IfOp (%c) -> (" + rows("z", "1") + ") {\n() -> (" + rows("p", "1") +
            ") {\ncf.CondBranchOp (%c) -> () [^end(%x), ^end(%y)]\n^end(" + rows("w", "$K") +
            "):\n" + sum("w", "p") + "cf.YieldOp (%p) -> ()\n}\n() -> (" + rows("q", "1") +
            ") {\n" + sum("y", "q") + "cf.YieldOp (%q) -> ()\n}\n}\ncf.ReturnOp (%z) -> ()\n"));
    CHECK(errors_of(reading.module()) == Lines{});
    const Op& condition = *reading.module().body().entry()->front();
    CHECK(owns(reading.module(), *condition.first_region(), "K"));
    CHECK(symbols_bound_in(condition).contains(reading.context.intern("K")));
    CHECK(binds_symbols(*reading.module().body().entry()));
  }

  TEST_CASE("a graph finds out a symbol that shapes of its ops have, too") {
    const std::string call = "graph.CallGraphOp @f (%c, %x) -> (" + rows("z", "1") + ")\n";
    const std::string arguments = fmt::format("{}, {}", kFlag, rows("a", "$S"));
    Reading reading(
        module_text(rows("z", "1"), graph("f", arguments, rows("r", "1"),
                                          compress("a", "k", "$T") + iota("i", "$T") +
                                              sum("i", "r") + "cf.ReturnOp (%r) -> ()\n") +
                                        call + "cf.ReturnOp (%z) -> ()\n"));
    const Op& found = only_call(reading.module());
    CHECK(CallTypes::are_own(found, *called_graph(found)));  // $T is %y's around the call
    Passes passes;
    REQUIRE(passes.run(reading.module(), "inline") == Lines{});
    CHECK(callee_of(only_call(reading.module())));
  }

  TEST_CASE("shown memory binds no symbol") {
    const std::string arguments = fmt::format("{}, {}", kFlag, rows("a", "$M"));
    Reading reading(module_text(
        rows("z", "1"), graph("f", arguments, rows("r", "1"),
                              iota("i", "$S") + sum("i", "r") + "cf.ReturnOp (%r) -> ()\n") +
                            "graph.CallGraphOp @f (%c, %y) -> (" + rows("z", "1") +
                            ")\ncf.ReturnOp (%z) -> ()\n"));
    Passes passes;
    REQUIRE(passes.run(reading.module(), "plan-memory") == Lines{});
    CHECK_FALSE(owns(reading.module(), body_of(reading.module(), "f"), "S"));
    REQUIRE(passes.run(reading.module(), "bind-symbols{S=4}") == Lines{});
    CHECK(errors_of(reading.module()) == Lines{});
  }

  TEST_CASE("the cost of a graph is unknown around it where only the graph binds a symbol") {
    const std::string arguments = fmt::format("{}, {}", kFlag, rows("a", "$S"));
    Reading reading(module_text(
        rows("z", "1"),
        graph("f", arguments, rows("r", "1"),
              compress("a", "k", "$K") + sum("k", "r") + "cf.ReturnOp (%r) -> ()\n") +
            "graph.CallGraphOp @f (%c, %x) -> (" + rows("z", "1") + ")\ncf.ReturnOp (%z) -> ()\n"));
    const CostEstimate estimate(reading.module());
    REQUIRE(estimate.graphs().size() == 2);
    CHECK_FALSE(estimate.graphs()[1].work.read.is_unknown());
    CHECK(estimate.body().work.read.is_unknown());
    Passes passes;
    REQUIRE(passes.run(reading.module(), "estimate") == Lines{});
    CHECK(errors_of(reading.module()) == Lines{});
  }

  TEST_CASE("the cost of a region is unknown around it where only the region binds a symbol") {
    Reading reading(
        module_text(rows("z", "1"), "cf.IfOp (%c) -> (" + rows("z", "1") + ") {\n() -> (" +
                                        rows("p", "1") + ") {\n" + compress("x", "k", "$K") +
                                        sum("k", "p") + "cf.YieldOp (%p) -> ()\n}\n() -> (" +
                                        rows("q", "1") + ") {\n" + sum("y", "q") +
                                        "cf.YieldOp (%q) -> ()\n}\n}\ncf.ReturnOp (%z) -> ()\n"));
    const CostEstimate estimate(reading.module());
    CHECK(estimate.body().work.read.is_unknown());
    CHECK(estimate.body().peak == Dim::unknown());
    CHECK_FALSE(estimate.body().ops.front().work.read.is_unknown());
  }

  TEST_CASE("symbols keep their owners while graphs get numbers one after the other") {
    // Only @g tells that the result of the call is not found out in the region.
    const std::string arguments = fmt::format("{}, {}", kFlag, rows("a", "$M"));
    Reading reading(module_text(
        rows("z", "1"),
        graph("g", arguments, rows("i", "$S"), iota("i", "$S") + "cf.ReturnOp (%i) -> ()\n") +
            "cf.IfOp (%c) -> (" + rows("z", "1") + ") {\n() -> (" + rows("p", "1") +
            ") {\ngraph.CallGraphOp @g (%c, %y) -> (" + rows("s", "$S") + ")\n" + sum("s", "p") +
            "cf.YieldOp (%p) -> ()\n}\n() -> (" + rows("q", "1") + ") {\n" + sum("y", "q") +
            "cf.YieldOp (%q) -> ()\n}\n}\ncf.ReturnOp (%z) -> ()\n"));
    Passes passes;
    REQUIRE(passes.run(reading.module(), "bind-symbols{S=4}") == Lines{});
    CHECK(errors_of(reading.module()) == Lines{});
  }

  TEST_CASE("a number that a graph only passes on to others must be one for all its calls") {
    // @f has no $S; @g, which it calls, takes it from around the calls of @f.
    const std::string arguments = fmt::format("{}, {}", kFlag, rows("a", "$M"));
    const std::string sums = iota("i", "$S") + sum("i", "r") + "cf.ReturnOp (%r) -> ()\n";
    const std::string callee = graph("g", arguments, rows("r", "1"), sums);
    const std::string between = graph(
        "f", arguments, rows("r", "1"),
        "graph.CallGraphOp @g (%c, %a) -> (" + rows("r", "1") + ")\ncf.ReturnOp (%r) -> ()\n");
    // The $S of @h is another one.
    const std::string other = graph(
        "h", fmt::format("{}, {}", kFlag, rows("b", "$S")), rows("r", "1"),
        "graph.CallGraphOp @f (%c, %b) -> (" + rows("r", "1") + ")\ncf.ReturnOp (%r) -> ()\n");
    Reading reading(module_text(rows("z", "1"),
                                callee + between + other + "graph.CallGraphOp @f (%c, %y) -> (" +
                                    rows("u", "1") + ")\ngraph.CallGraphOp @h (%c, %y) -> (" +
                                    rows("z", "1") + ")\ncf.ReturnOp (%z) -> ()\n"));
    CHECK(symbols_taken_by(*reading.module().lookup_symbol("f").op) ==
          std::unordered_set<Symbol>{reading.context.intern("S")});
    Passes passes;
    const Lines found = passes.run(reading.module(), "bind-symbols{S=4}");
    REQUIRE(found.size() == 1);
    CHECK(found[0] ==
          Part{"'$S' has several values in '@f', which takes it from around its calls"});
  }
}

}  // namespace scopes_test

// Control flow, calls and resources as rows declare them.
#include "mir/control_flow.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "flow_dialect.hpp"
#include "mir/call_graph.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::find_op;
using mir::test::FlowReading;

namespace control_flow_test {

TEST_SUITE("control flow") {
  TEST_CASE("the edges of an op tell how often its regions run") {
    FlowReading reading(
        "@main [mir_version:1] (%x:$) -> () {\n"
        "flow.scope (%x) -> (%a:$) { (%0:$) -> () { flow.yield (%0) -> () } }\n"
        "flow.loop (%x) -> (%b:$) { (%1:$) -> () { flow.yield (%1) -> () } }\n"
        "flow.if () -> (%c:$) { flow.yield (%x) -> () } { flow.yield (%x) -> () }\n"
        "flow.graph @g { () -> () { flow.yield () -> () } }\n"
        "my.unknown () -> () { my.op () -> () }\n"
        "}\n");
    const Region& body = reading.module().body();
    const auto runs = [&](std::string_view name, std::size_t region = 0) {
      const RegionRuns found = runs_of(*find_op(body, name)->region(region));
      return std::pair(found.at_least_once, found.at_most_once);
    };
    CHECK(runs("flow.scope") == std::pair(true, true));
    CHECK(runs("flow.loop") == std::pair(false, false));
    CHECK(runs("flow.if") == std::pair(false, true));
    CHECK(runs("flow.if", 1) == std::pair(false, true));
    CHECK(runs("flow.graph") == std::pair(false, true));
    CHECK(runs("my.unknown") == std::pair(false, false));
    CHECK(is_loop(*find_op(body, "flow.loop")));
    CHECK_FALSE(is_loop(*find_op(body, "flow.if")));
    CHECK_FALSE(is_loop(*find_op(body, "my.unknown")));
    CHECK_FALSE(region_edges(*find_op(body, "my.unknown")));
    CHECK(region_edges(*find_op(body, "flow.graph"))->empty());
  }

  TEST_CASE("an op has the effects and the unknowns of the ops in its regions") {
    FlowReading reading(
        "@main [mir_version:1] (%x:$, %s:tensor<[?], Float32, CPU>) -> () {\n"
        "flow.scope <name=\"halves\"> (%x) -> (%a:$) { (%0:$) -> () {\n"
        "    flow.half (%0) -> (%1:$)\n"
        "    flow.yield (%1) -> () } }\n"
        "flow.scope <name=\"stores\"> (%x) -> (%b:$) { (%2:$) -> () {\n"
        "    flow.scope () -> () { () -> () { flow.store () -> ()\n flow.yield () -> () } }\n"
        "    flow.yield (%2) -> () } }\n"
        "flow.scope <name=\"calls\"> (%x) -> (%c:$) { (%3:$) -> () {\n"
        "    flow.call (%3) -> (%4:$) [callee:@g]\n"
        "    flow.yield (%4) -> () } }\n"
        "flow.scope <name=\"unknown\"> (%x) -> (%d:$) { (%5:$) -> () {\n"
        "    my.op () -> ()\n"
        "    flow.half (%5) -> (%6:$)\n"
        "    flow.yield (%6) -> () } }\n"
        "flow.scope <name=\"open\"> (%x) -> (%e:$) { (%7:$) -> () {\n"
        "    flow.half (%s) -> (%8:tensor<[?], Float32, CPU>)\n"
        "    flow.yield (%7) -> () } }\n"
        "}\n");
    std::map<std::string_view, const Op*> scopes;
    for (const Op* op : test::ops_of(reading.module().body())) {
      scopes[reading.context.text(op->path())] = op;
    }
    const auto facts = [&](std::string_view name) {
      const Op& op = *scopes.at(name);
      return std::tuple(effects_of(op), is_pure(op), is_speculatable(op));
    };
    CHECK(facts("halves") == std::tuple(Effect::kNone, true, true));
    CHECK(facts("stores") == std::tuple(Effect::kWritesState, false, false));
    CHECK(facts("calls") == std::tuple(Effect::kNone, false, false));
    CHECK(facts("unknown") == std::tuple(std::nullopt, false, false));
    CHECK(facts("open") == std::tuple(Effect::kNone, true, false));
  }

  TEST_CASE("the end of a region is pure and never dead") {
    FlowReading reading(
        "@main [mir_version:1] (%x:$) -> () {\n"
        "flow.scope (%x) -> (%a:$) { (%0:$) -> () { flow.yield () -> () } }\n"
        "}\n");
    const Op& scope = *find_op(reading.module().body(), "flow.scope");
    const Op& end = *find_op(*scope.first_region(), "flow.yield");
    CHECK(is_pure(end));
    CHECK_FALSE(is_dead(end));
    CHECK(is_dead(scope));
  }

  TEST_CASE("calls are found by their rows, whatever names the callee") {
    FlowReading reading(
        "@main [mir_version:1] (%x:$) -> () {\n"
        "flow.graph @g { (%0:$) -> () { flow.call (%0) -> () [callee:@h] } }\n"
        "flow.graph @h { (%1:$) -> () { flow.yield () -> () } }\n"
        "flow.call (%x) -> () [callee:@g]\n"
        "flow.call () -> () [callee:@missing]\n"
        "}\n");
    Module& module = reading.module();
    const Op *g = find_op(module.body(), "flow.graph"),
             *h = find_op(module.body(), "flow.graph", 1);
    const CallGraph calls(module);
    CHECK(calls.graphs().size() == 3);
    REQUIRE(calls.calls_in(*module.top()).size() == 2);
    CHECK(calls.calls_in(*module.top())[0].target == g);
    CHECK(calls.calls_in(*module.top())[1].target == nullptr);
    CHECK(calls.callees(*g) == std::vector<Op*>{const_cast<Op*>(h)});
    CHECK(calls.bottom_up().front() == h);
  }

  TEST_CASE("two ops conflict if one writes the state that the other touches") {
    FlowReading reading(
        "@main [mir_version:1] () -> () {\n"
        "flow.store <name=\"a\"> () -> ()\n"
        "flow.load <name=\"a\"> () -> ()\n"
        "flow.load <name=\"b\"> () -> ()\n"
        "flow.store () -> ()\n"
        "linalg.CPU.NegOp (%0:$[constant:[1, 2]]) -> (%1:$)\n"
        "my.unknown () -> ()\n"
        "}\n");
    const auto ops = test::ops_of(reading.module().body());
    Op &store_a = *ops[0], &load_a = *ops[1], &load_b = *ops[2], &store_any = *ops[3];
    Op &pure = *ops[4], &unknown = *ops[5];
    CHECK(may_conflict(store_a, load_a));
    CHECK_FALSE(may_conflict(store_a, load_b));
    CHECK_FALSE(may_conflict(load_a, load_a));
    CHECK(may_conflict(store_any, load_b));
    CHECK_FALSE(may_conflict(store_any, pure));
    CHECK(may_conflict(unknown, pure));
  }

  TEST_CASE("two caches are two resources") {
    test::Reading reading(
        "@main [mir_version:1] (%k:tensor<[1, 2, 4, 8], Float32, CPU>) -> () {\n"
        "linalg.CPU.KVCacheOp [cache:@one, q_head:2, kv_head:2, head_dim:8, past:0] (%k, %k) -> "
        "(%a:tensor<[1, 2, 4, 8], Float32, CPU>, %b:tensor<[1, 2, 4, 8], Float32, CPU>)\n"
        "linalg.CPU.KVCacheOp [cache:@two, q_head:2, kv_head:2, head_dim:8, past:0] (%k, %k) -> "
        "(%c:tensor<[1, 2, 4, 8], Float32, CPU>, %d:tensor<[1, 2, 4, 8], Float32, CPU>)\n"
        "}\n");
    const auto ops = test::ops_of(reading.module().body());
    CHECK_FALSE(may_conflict(*ops[0], *ops[1]));
    CHECK(may_conflict(*ops[0], *ops[0]));
  }
}

}  // namespace control_flow_test

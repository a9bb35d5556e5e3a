#include "mir/analysis.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "../ir/read.hpp"
#include "mir/ops.hpp"

using namespace mir;
using mir::test::ops_of;
using mir::test::Reading;

namespace analysis_test {

namespace {

using Names = std::vector<std::string>;

Names names_of(std::span<Op* const> graphs) {
  Names names;
  for (const Op* graph : graphs)
    names.emplace_back(graph->module().context().text(graph->symbol()));
  return names;
}

/// A graph of this name with these lines, without inputs and outputs.
std::string graph(std::string_view name, std::string_view lines) {
  return "graph.SubGraphOp @" + std::string(name) + " <CPU> { () -> () {\n" + std::string(lines) +
         "cf.ReturnOp () -> () } }\n";
}

std::string call(std::string_view name) {
  return "graph.CallGraphOp @" + std::string(name) + " () -> ()\n";
}

std::string portable(const std::string& lines) {
  return "@main [mir_version:1] () -> () {\n" + lines + "cf.ReturnOp () -> ()\n}\n";
}

// -- liveness against its definition
// ----------------------------------------------------------------

/// Blocks with random successors, each with ops that define a value and use some that may be used.
std::string flow_text(std::mt19937& random, std::size_t blocks) {
  std::string text = "@main () -> () { my.Region () -> () {\n";
  std::size_t values = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    if (b != 0) text += "^b" + std::to_string(b) + ":\n";
    for (std::size_t n = 1 + random() % 2; n > 0; --n) {
      // Any earlier value, dominance or not: the analysis only follows definitions and uses.
      const std::string use =
          values == 0 ? ""
                      : "%v" + std::to_string(random() % values) + ":tensor<[1], Float32, CPU>";
      text +=
          "my.Op (" + use + ") -> (%v" + std::to_string(values++) + ":tensor<[1], Float32, CPU>)\n";
    }
    text += "my.End () -> ()";
    for (std::size_t n = random() % 3, j = 0; j < n; ++j) {
      text += (j == 0 ? " [^b" : ", ^b") + std::to_string(1 + random() % (blocks - 1));
    }
    text += text.back() == ')' ? "\n" : "]\n";
  }
  return text + "}\n}\n";
}

/// Whether some way from the end of `block` comes to a use of the value before its definition.
bool is_needed_after(const Block& block, const Value& value) {
  std::set<const Block*> seen;
  std::vector<const Block*> open;
  const auto follow = [&](const Block& from) {
    for (const auto& to : from.successors()) {
      if (to.block != nullptr && seen.insert(to.block).second) open.push_back(to.block);
    }
  };
  follow(block);
  while (!open.empty()) {
    const Block* at = open.back();
    open.pop_back();
    if (value.defining_op()->block() == at) continue;
    for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
      if (use->user()->block() == at) return true;
    }
    follow(*at);
  }
  return false;
}

}  // namespace

TEST_SUITE("analyses") {
  TEST_CASE("values that a way from a block needs are live at its end") {
    std::mt19937 random(3);
    std::size_t live = 0, several = 0;
    for (int i = 0; i < 300; ++i) {
      Reading reading(flow_text(random, 2 + random() % 6));
      const Region& region = *reading.module().body().entry()->front()->region();
      const Liveness liveness(reading.module().body());
      for (const Block* block : region.blocks()) {
        const auto found = liveness.live_out(*block);
        CHECK(std::ranges::is_sorted(found, {}, &Value::id));
        for (const Op* op : ops_of(region)) {
          for (const Value& value : op->results()) {
            const bool is_live = std::ranges::find(found, &value) != found.end();
            CHECK(is_live == is_needed_after(*block, value));
            live += is_live ? 1 : 0;
          }
        }
        several += found.size() > 1 ? 1 : 0;
      }
    }
    CHECK(live > 100);
    CHECK(several > 20);
  }

  TEST_CASE("a value is live after an op while something after it uses it") {
    Reading reading(
        "@main () -> () {\n"
        "my.A () -> (%1:tensor<[1], Float32, CPU>)\n"
        "my.B (%1:tensor<[1], Float32, CPU>) -> ()\n"
        "my.C () -> () { my.D (%1:tensor<[1], Float32, CPU>) -> () }\n"
        "my.E () -> ()\n}\n");
    const auto ops = ops_of(reading.module().body());
    const Liveness liveness(reading.module().body());
    const Value& value = *ops[0]->result();
    CHECK(liveness.is_live_after(value, *ops[0]));
    CHECK(liveness.is_live_after(value, *ops[1]));
    CHECK_FALSE(liveness.is_live_after(value, *ops[2]));
    CHECK_FALSE(liveness.is_live_after(value, *ops[3]));
  }

  TEST_CASE("views of views have one origin") {
    Reading reading(
        "@main [mir_version:1] (%0:tensor<[2, 3], Float32, CPU>) -> () {\n"
        "linalg.CPU.ViewOp [to_shape:[6]] (%0) -> (%1:tensor<[6], Float32, CPU>)\n"
        "linalg.CPU.ViewOp [to_shape:[3, 2]] (%1) -> (%2:tensor<[3, 2], Float32, CPU>)\n"
        "linalg.CPU.NegOp (%2) -> (%3:tensor<[3, 2], Float32, CPU>)\n"
        "linalg.CPU.ViewOp [to_shape:[6]] (%3) -> (%4:tensor<[6], Float32, CPU>)\n"
        "cf.ReturnOp () -> ()\n}\n");
    const auto ops = ops_of(reading.module().body());
    const Value& input = reading.module().body().only_block().arguments()[0];
    const Aliases aliases(reading.module().body());
    CHECK(&aliases.origin(*ops[1]->result()) == &input);
    CHECK(&aliases.origin(*ops[2]->result()) == ops[2]->result());
    CHECK(&aliases.origin(*ops[3]->result()) == ops[2]->result());
    CHECK(aliases.share_storage(*ops[0]->result(), *ops[1]->result()));
    CHECK_FALSE(aliases.share_storage(*ops[1]->result(), *ops[3]->result()));
    REQUIRE(aliases.views(input).size() == 2);
    CHECK(aliases.views(input)[1] == ops[1]->result());
    CHECK(aliases.views(*ops[0]->result()).empty());
  }

  TEST_CASE("a call graph has callees before callers, and knows circles") {
    Reading reading(portable(graph("a", call("b") + call("c") + call("b")) + graph("b", call("c")) +
                             graph("c", "") + graph("p", call("q")) + graph("q", call("p")) +
                             call("a")));
    Module& module = reading.module();
    const CallGraph calls(module);
    CHECK(names_of(calls.graphs()) == Names{"main", "a", "b", "c", "p", "q"});
    CHECK(names_of(calls.bottom_up()) == Names{"c", "b", "a", "main", "q", "p"});
    const auto at = [&](std::string_view name) {
      return module.lookup_op(module.context().intern(name));
    };
    CHECK(names_of(calls.callees(*at("a"))) == Names{"b", "c"});
    CHECK(calls.calls_of(*at("c")).size() == 2);
    CHECK(calls.recursive_graphs().contains(at("p")));
    CHECK_FALSE(calls.recursive_graphs().contains(at("a")));
    Op* const roots[] = {module.top()};
    CHECK(names_of(calls.reached_from(roots)) == Names{"main", "a", "b", "c"});
  }

  TEST_CASE("calls have the effects of what they call") {
    const std::string type = ":tensor<[1, 2, 4, 8], Float32, CPU>";
    const auto unary = [&](std::string_view name, std::string_view lines) {
      return "graph.SubGraphOp @" + std::string(name) + " <CPU> { (%x" + type + ") -> (%y" + type +
             ") {\n" + std::string(lines) + "cf.ReturnOp (%y" + type + ") -> () } }\n";
    };
    Reading reading(
        "@main [mir_version:1] (%0" + type + ") -> () {\n" +
        unary("pure", "linalg.CPU.NegOp (%x" + type + ") -> (%y" + type + ")\n") +
        unary("outer", "graph.CallGraphOp @pure (%x" + type + ") -> (%y" + type + ")\n") +
        unary("round", "graph.CallGraphOp @round (%x" + type + ") -> (%y" + type + ")\n") +
        unary("state",
              "linalg.CPU.KVCacheOp<name=\"c\"> [layer_idx:0, q_head:2, kv_head:2, head_dim:8, "
              "use_fa2:false] (%x" +
                  type + ", %x" + type + ") -> (%y" + type + ", %z" + type + ")\n") +
        "graph.CallGraphOp @outer (%0" + type + ") -> (%1" + type +
        ")\n"
        "graph.CallGraphOp @round (%0" +
        type + ") -> (%2" + type +
        ")\n"
        "graph.CallGraphOp @state (%0" +
        type + ") -> (%3" + type +
        ")\n"
        "cf.ReturnOp () -> ()\n}\n");
    Module& module = reading.module();
    Analyses analyses(module);
    const auto& effects = analyses.get<Effects>();
    std::vector<const Op*> calls;
    for (const Op* op : ops_of(module.body())) {
      if (op->is(OpId::kGraphCallGraph)) calls.push_back(op);
    }
    REQUIRE(calls.size() == 3);
    const Op &outer = *calls[0], &round = *calls[1], &state = *calls[2];
    CHECK(effects.is_pure(outer));
    CHECK(effects.of(outer) == Effect::kNone);
    CHECK_FALSE(effects.is_pure(round));
    CHECK_FALSE(effects.of(round).has_value());
    CHECK_FALSE(effects.is_pure(state));
    REQUIRE(effects.of(state).has_value());
    CHECK(has(*effects.of(state), Effect::kWritesState));
  }

  TEST_CASE("symbols are of inputs, and extents have ranges") {
    Reading reading(
        "@main [mir_version:1] (%0:tensor<[$S, 2*$B, 4], Float32, CPU>) -> () {\n"
        "cf.ReturnOp () -> ()\n}\n");
    Module& module = reading.module();
    const SymbolRanges ranges(module);
    REQUIRE(ranges.symbols().size() == 2);
    CHECK(module.context().text(ranges.symbols()[0]) == "B");
    const auto range = [&](std::string_view text) {
      const auto dim = module.context().dims().parse(text);
      REQUIRE(dim);
      return ranges.range(*dim);
    };
    constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();
    using Range = SymbolRanges::Range;
    CHECK(range("7") == Range{7, 7});
    CHECK(range("?") == Range{0, kOpen});
    CHECK(range("$S") == Range{0, kOpen});
    CHECK(range("$S+3") == Range{3, kOpen});
    CHECK(range("2*$S+$B+1") == Range{1, kOpen});
    CHECK(range("($S+8)/4") == Range{2, kOpen});
    CHECK(range("5-$S") == Range{0, 5});
    CHECK(range("($S+1)*($B+2)") == Range{2, kOpen});
    CHECK(range("-3*$S-1") == Range{0, 0});
    CHECK(range("$S/$B") == Range{0, kOpen});
    CHECK(range("$S-$B") == Range{0, kOpen});
  }

  TEST_CASE("declared symbols have the ranges of their declarations") {
    Reading reading(
        "@main [mir_version:2, symbols:{S:{min:2,max:8}}] (%0:tensor<[$S, $B], Float32, CPU>) -> "
        "() "
        "{\ncf.ReturnOp () -> ()\n}\n");
    Module& module = reading.module();
    const SymbolRanges ranges(module);
    const auto range = [&](std::string_view text) {
      return ranges.range(*module.context().dims().parse(text));
    };
    using Range = SymbolRanges::Range;
    CHECK(range("$S") == Range{2, 8});
    CHECK(range("3*$S-1") == Range{5, 23});
    CHECK(range("$S/3") == Range{0, 2});
    CHECK(range("10-$S") == Range{2, 8});
    CHECK(range("$B").least == 0);
  }
}

}  // namespace analysis_test

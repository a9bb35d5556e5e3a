// Dead code, and passes that know of it.
#include "known_passes.hpp"
#include "mir/analysis.hpp"
#include "mir/rewriter.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::ops_of;
using mir::test::Passes;
using mir::test::Reading;

TEST_SUITE("dead code") {
  TEST_CASE("code is dead if nothing reads it, but what is isolated does not count") {
    const auto is_dead = [](const std::string& lines) {
      Reading reading(
          "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) "
          "{\n" +
          lines + "cf.ReturnOp (%y) -> ()\n}\n");
      return DeadCode(reading.module().body()).exists();
    };
    const std::string live = "linalg.CPU.NegOp (%x) -> (%y:tensor<[2], Float32, CPU>)\n";
    const std::string dead = "linalg.CPU.NegOp (%x) -> (%d:tensor<[2], Float32, CPU>)\n";
    CHECK_FALSE(is_dead(live));
    CHECK(is_dead(live + dead));
    CHECK(is_dead(live + "my.Wrap () -> () {\n" + dead + "}\n"));
    CHECK_FALSE(is_dead(live +
                        "graph.SubGraphOp @f <CPU> { (%x:tensor<[2], Float32, CPU>) -> () {\n" +
                        dead + "cf.ReturnOp () -> () } }\n"));
    CHECK_FALSE(DeadCode::none().exists());
  }

  TEST_CASE("a free value without uses is dead") {
    Reading reading(
        "@main [mir_version:1] () -> (%y:tensor<[1], Float32, CPU>) {\n"
        "linalg.CPU.NegOp (%c:tensor<[1], Float32, CPU>[constant:[1.0]]) -> "
        "(%y:tensor<[1], Float32, CPU>)\ncf.ReturnOp (%y) -> ()\n}\n");
    Region& body = reading.module().body();
    CHECK_FALSE(DeadCode(body).exists());
    Rewriter rewriter(reading.module());
    Op& neg = *ops_of(body).front();
    rewriter.replace_all_uses(*neg.result(), *neg.operand(0));
    rewriter.erase(neg);
    CHECK_FALSE(DeadCode(body).exists());
    rewriter.erase(*ops_of(body).front());
    CHECK(DeadCode(body).exists());
  }

  TEST_CASE("an analysis that a pass states, and that does not hold, is named") {
    const auto result_of = [](bool erases) {
      Reading reading(
          "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> () {\n"
          "    linalg.CPU.NegOp(%x) -> (%d:tensor<[2], Float32, CPU>)\n"
          "    cf.ReturnOp () -> ()\n}\n");
      Passes all;
      all.registry.add({.name = "state-none",
                        .summary = "states that no code is dead",
                        .anchor = Anchor::kGraph,
                        .preserves = AnalysisSet::of<DeadCode>(),
                        .run = [erases](PassRun& run) {
                          Rewriter rewriter(run.module());
                          Op& first = *run.region().entry()->front();
                          erases ? rewriter.erase(first)
                                 : rewriter.set_operand(first, 0, first.operand(0));
                          run.state(DeadCode::none());
                          return run.result();
                        }});
      Lines problems = all.run(reading.module(), "state-none,eliminate-dead-ops");
      const bool is_left = reading.module().body().entry()->front()->name() == "linalg.NegOp";
      problems.emplace_back(is_left ? "left" : "gone");
      return problems;
    };
    CHECK(result_of(true) == Lines{"gone"});
    CHECK(result_of(false) ==
          Lines{"- MIR0921 pass 'state-none' declares that it preserves analysis 'dead code', but "
                "changed it",
                "left"});
  }

  TEST_CASE("a call of a pure graph is dead without users, also once its graph has become pure") {
    const std::string type = ":tensor<[1, 1, 1, 4], Float32, CPU>";
    const auto left = [&](const std::string& ops, const std::string& pipeline) {
      Reading reading("@main [mir_version:1] (%x" + type + ") -> (%y" + type +
                      ") {\ngraph.SubGraphOp @f <CPU> { (%u" + type + ") -> (%w" + type + ") {\n" +
                      ops + "cf.ReturnOp (%w) -> () } }\ngraph.SubGraphOp @g <CPU> { (%u" + type +
                      ") -> (%w" + type + ") {\ngraph.CallGraphOp @f (%u) -> (%w" + type +
                      ")\ncf.ReturnOp (%w) -> () } }\n"
                      "linalg.CPU.NegOp (%x) -> (%y" +
                      type + ")\ngraph.CallGraphOp @g (%y) -> (%d" + type +
                      ")\ncf.ReturnOp (%y) -> ()\n}\n");
      Passes all;
      all.registry.add({.name = "forget-state",
                        .summary = "erases ops with state",
                        .anchor = Anchor::kGraph,
                        .run = [](PassRun& run) {
                          Rewriter rewriter(run.module());
                          for (Op* op : ops_of(run.region())) {
                            if (op->is(OpId::kLinalgKVCache)) rewriter.erase(*op);
                          }
                          return run.result();
                        }});
      CHECK(all.run(reading.module(), pipeline) == Lines{});
      std::size_t calls = 0;
      for (const Op* op : ops_of(reading.module().body())) calls += op->is(OpId::kGraphCallGraph);
      return calls;
    };
    const std::string exp = "linalg.CPU.ExpOp (%u) -> (%w" + type + ")\n";
    CHECK(left(exp, "eliminate-dead-ops") == 0);
    const std::string state =
        exp +
        "linalg.CPU.KVCacheOp<name=\"c\"> [layer_idx:0, q_head:1, kv_head:1, head_dim:4] (%u, "
        "%u) -> (%k" +
        type + ", %v" + type + ")\n";
    CHECK(left(state, "eliminate-dead-ops") == 1);
    CHECK(left(state, "eliminate-dead-ops,forget-state,eliminate-dead-ops") == 0);
    CHECK(left("graph.CallGraphOp @g (%u) -> (%w" + type + ")\n", "eliminate-dead-ops") == 1);
  }

  TEST_CASE("dead code that others are merged into is no longer dead") {
    Reading reading(
        "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> "
        "(%y:tensor<[2], Float32, CPU>) {\n"
        "    linalg.CPU.NegOp(%x) -> (%d:tensor<[2], Float32, CPU>)\n"
        "    linalg.CPU.NegOp(%x) -> (%y:tensor<[2], Float32, CPU>)\n"
        "    cf.ReturnOp (%y) -> ()\n}\n");
    Passes all;
    bool exists = false;
    all.registry.add({.name = "ask",
                      .summary = "asks for dead code",
                      .anchor = Anchor::kGraph,
                      .run = [&](PassRun& run) {
                        exists = run.analysis<DeadCode>().exists();
                        return run.result();
                      }});
    CHECK(all.run(reading.module(), "ask,cse") == Lines{});
    CHECK(exists);
    CHECK(all.run(reading.module(), "ask") == Lines{});
    CHECK_FALSE(exists);
  }
}

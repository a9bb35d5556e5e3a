// Repeated parts that become graphs, and how repeats are found.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "known_passes.hpp"
#include "mir/ops.hpp"
#include "mir/verify.hpp"
#include "passes/outline/repeats.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;

namespace outline_test {

namespace {

constexpr std::string_view kType = "tensor<[1, 2], Float32, CPU>";

/// Layers of a linear op, an activation and a sum with the input of the model. Each has a weight of
/// its own, or all have that of the first.
std::string layers(int count, bool own_weights) {
  std::string text =
      fmt::format("@main [mir_version:1] (%x:{0}) -> (%s{1}:{0}) {{\n", kType, count);
  text += "graph.SubGraphOp @init <notype> {\n() -> () {\n";
  for (int i = 0; i < (own_weights ? count : 1); ++i) {
    text += fmt::format(
        "tensor.CPU.register () -> (%w{0}:tensor<[2, 2], Float32, CPU>[@layers.{0}.up.weight])"
        "[symbol:layers.{0}.up.weight]\n",
        i);
  }
  text += fmt::format("}}\n}}\nlinalg.CPU.NegOp(%x) -> (%s0:{})\n", kType);
  for (int i = 0; i < count; ++i) {
    text += fmt::format(
        "linalg.CPU.LinearOp <name=\"layers.{0}.up\"> [in_channels:2, out_channels:2, bias:false] "
        "(%s{1}) -> (%a{1}:{3})\n"
        "linalg.CPU.MulOp(%a{1}, %k{1}:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%b{1}:{3})\n"
        "linalg.CPU.AddOp(%b{1}, %x) -> (%s{2}:{3})\n",
        own_weights ? i : 0, i, i + 1, kType);
  }
  return text + fmt::format("cf.ReturnOp (%s{}) -> ()\n}}\n", count);
}

/// Runs the passes on a module, which must verify afterwards.
void run(Reading& reading, std::string_view pipeline) {
  Passes all;
  REQUIRE(all.run(reading.module(), pipeline) == Lines{});
  Diagnostics found;
  verify(reading.module(), found);
  REQUIRE(test::lines_of(found, reading.context) == Lines{});
}

Lines body_of(const Module& module) {
  Lines names;
  for (const Op* op : module.body().only_block().ops()) {
    const bool is_named = isa<SubGraphOp>(op) || isa<CallGraphOp>(op);
    names.push_back(is_named ? fmt::format("{} {}", op->name(), module.context().text(op->symbol()))
                             : std::string(op->name()));
  }
  return names;
}

}  // namespace

TEST_SUITE("outline") {
  TEST_CASE("an op that decides an extent stays where other types have its symbol") {
    const auto ops = [](std::string_view x, int dim) {
      return fmt::format(
          "linalg.CPU.ReduceMaxOp [dim:1] ({0}) -> (%l)\nlinalg.CPU.NegOp (%l) -> (%n)\n"
          "linalg.CPU.GreaterOp (%n, %l) -> (%g)\n"
          "linalg.CPU.CompressOp [dim:0] ({0}, %g) -> (%k:tensor<[$T, 2], Float32, CPU>)\n"
          "linalg.CPU.IotaOp [shape:[$T, 2], dtype:Float32, dim:{1}] () -> (%i)\n"
          "cf.ReturnOp (%i) -> ()\n",
          x, dim);
    };
    Reading reading(
        "@main [mir_version:2] (%x:tensor<[4, 2], Float32, CPU>) -> (%i:tensor<[$T, 2], Float32, "
        "CPU>) {\ngraph.SubGraphOp @f <CPU> {\n(%p:tensor<[4, 2], Float32, CPU>) -> "
        "(%i:tensor<[$T, 2], Float32, CPU>) {\n" +
        ops("%p", 0) + "}\n}\n" + ops("%x", 1) + "}\n");
    Passes all;
    REQUIRE(all.run(reading.module(), "outline{ops=3}") == Lines{});
    Diagnostics found;
    CHECK(verify(reading.module(), found));  // but for a warning: nothing calls @f
    CHECK(body_of(reading.module()) == Lines{"graph.SubGraphOp f", "graph.SubGraphOp part.0",
                                             "graph.CallGraphOp part.0", "linalg.CompressOp",
                                             "linalg.IotaOp", "cf.ReturnOp"});
  }

  TEST_CASE("layers with weights of their own become graphs with the names of the layers") {
    Reading reading(layers(3, true));
    run(reading, "outline{ops=3}");
    CHECK(body_of(reading.module()) ==
          Lines{"graph.SubGraphOp init", "graph.SubGraphOp layers.0.up",
                "graph.SubGraphOp layers.1.up", "graph.SubGraphOp layers.2.up", "linalg.NegOp",
                "graph.CallGraphOp layers.0.up", "graph.CallGraphOp layers.1.up",
                "graph.CallGraphOp layers.2.up", "cf.ReturnOp"});
  }

  TEST_CASE("layers with the same weights share a graph") {
    Reading reading(layers(3, false));
    run(reading, "outline{ops=3}");
    CHECK(body_of(reading.module()) ==
          Lines{"graph.SubGraphOp init", "graph.SubGraphOp layers.0.up", "linalg.NegOp",
                "graph.CallGraphOp layers.0.up", "graph.CallGraphOp layers.0.up",
                "graph.CallGraphOp layers.0.up", "cf.ReturnOp"});
    const Op* graph = reading.module().lookup_op(reading.context.intern("layers.0.up"));
    CHECK(graph->first_region()->entry_arguments().size() == 2);
  }

  TEST_CASE("inlining undoes it") {
    for (const bool own_weights : {false, true}) {
      Reading before(layers(5, own_weights)), after(layers(5, own_weights));
      run(before, "strip-locations,number-values");
      run(after, "outline{ops=3}");
      CHECK(body_of(after.module()) != body_of(before.module()));
      run(after, "inline,eliminate-unused-graphs,cse,strip-locations,number-values");
      run(before, "cse,number-values");
      CHECK(print(after.module()) == print(before.module()));
    }
  }

  TEST_CASE("parts below the least number of ops, and parts that are wired differently, stay") {
    Reading few(layers(3, true));
    run(few, "outline{ops=10}");
    CHECK(body_of(few.module()) == body_of(Reading(layers(3, true)).module()));
    // The operands of the second difference are exchanged.
    const auto two = [](std::string_view second) {
      return fmt::format(
          "@main [mir_version:1] (%x:{0}, %y:{0}) -> (%f:{0}) {{\n"
          "linalg.CPU.ExpOp(%x) -> (%a:{0})\nlinalg.CPU.SubOp(%a, %y) -> (%b:{0})\n"
          "linalg.CPU.ExpOp(%b) -> (%d:{0})\nlinalg.CPU.SubOp({1}) -> (%f:{0})\n"
          "cf.ReturnOp (%f) -> ()\n}}\n",
          kType, second);
    };
    Reading same(two("%d, %y")), exchanged(two("%y, %d"));
    run(same, "outline{ops=2}");
    run(exchanged, "outline{ops=2}");
    CHECK(body_of(same.module()).size() == 4);
    CHECK(body_of(exchanged.module()).size() == 5);
  }

  TEST_CASE("repeats are those that a search through all parts finds to cover most") {
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
      std::vector<std::uint32_t> tokens(std::uniform_int_distribution<std::size_t>(0, 24)(random));
      for (std::uint32_t& each : tokens) each = std::uniform_int_distribution<>(0, 3)(random);
      const std::vector<Repeat> found = find_repeats(tokens, 2);
      std::size_t most = 0;
      for (const Repeat& repeat : found) {
        CHECK(repeat.length >= 2);
        CHECK(repeat.starts.size() >= 2);
        for (std::size_t i = 0; i < repeat.starts.size(); ++i) {
          const std::size_t start = repeat.starts[i];
          REQUIRE(start + repeat.length <= tokens.size());
          if (i > 0) CHECK(start >= repeat.starts[i - 1] + repeat.length);
          for (std::size_t k = 0; k < repeat.length; ++k) {
            CHECK(tokens[start + k] != 0);
            CHECK(tokens[start + k] == tokens[repeat.starts[0] + k]);
          }
        }
        most = std::max(most, repeat.covered());
      }
      // Any two equal parts of two tokens without a 0 are some repeat.
      bool repeats = false;
      for (std::size_t i = 0; i + 2 <= tokens.size(); ++i) {
        for (std::size_t j = i + 2; j + 2 <= tokens.size(); ++j) {
          repeats = repeats || (tokens[i] != 0 && tokens[i + 1] != 0 && tokens[i] == tokens[j] &&
                                tokens[i + 1] == tokens[j + 1]);
        }
      }
      CHECK(repeats == (most >= 4));
    }
  }

  TEST_CASE("a period is found before its multiples") {
    std::vector<std::uint32_t> tokens = {9};
    for (int i = 0; i < 4; ++i) tokens.insert(tokens.end(), {1, 2, 3, 4, 5});
    tokens.push_back(8);
    const std::vector<Repeat> found = find_repeats(tokens, 3);
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].length == 5);
    CHECK(found[0].starts == std::vector<std::size_t>{1, 6, 11, 16});
  }

  TEST_CASE("parts that overlap are no longer than what they share") {
    const std::vector<std::uint32_t> tokens = {1, 2, 1, 2, 1, 0, 1, 2, 1, 0};
    for (const Repeat& each : find_repeats(tokens, 3)) {
      for (const std::size_t start : each.starts) {
        for (std::size_t i = 0; i < each.length; ++i) CHECK(tokens[start + i] == tokens[i % 2]);
      }
    }
  }
}

}  // namespace outline_test

// Patterns, and the driver that applies them.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "known_passes.hpp"
#include "mir/ops.hpp"
#include "mir/rewrite_patterns.hpp"
#include "mir/verify.hpp"
#include "module_generator.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;

namespace rewrite_test {

namespace {

constexpr std::string_view kType = "tensor<[2], Float32, CPU>";

/// `%0` is given, each op of `ops` takes the value before it, the last one is returned.
std::string chain(std::span<const std::string_view> ops) {
  std::string text =
      fmt::format("@main [mir_version:1] (%0:{0}) -> (%{1}:{0}) {{\n", kType, ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    text += fmt::format("    linalg.CPU.{}(%{}) -> (%{}:{})\n", ops[i], i, i + 1, kType);
  }
  return text + fmt::format("    cf.ReturnOp (%{}) -> ()\n}}\n", ops.size());
}

std::string chain(std::initializer_list<std::string_view> ops) {
  return chain(std::span(ops.begin(), ops.size()));
}

/// The op names of a module's body, without dialect and return.
std::string names(Module& module) {
  std::string text;
  for (Op* op : module.body().ops()) {
    if (op->has(Trait::kTerminator)) continue;
    text += (text.empty() ? "" : " ") + std::string(op->info().mnemonic);
  }
  return text;
}

std::function<bool(const OpKindInfo&)> only(std::string_view name) {
  return [name](const OpKindInfo& kind) { return kind.name == name; };
}

/// Puts an op of this name in place of the root.
auto become(std::string_view spelling) {
  return [spelling](Rewriter& rewriter, Op& root) {
    Value* operand = root.operand(0);
    const Type* type = root.result()->type();
    Op* made = rewriter.create_detached({.name = rewriter.context().op_name(spelling),
                                         .operands = {&operand, 1},
                                         .result_types = {&type, 1}});
    rewriter.replace(root, *made);
    return true;
  };
}

/// What a run of a set of patterns reported, what it made, and what it counted.
struct Run {
  Lines problems;
  std::string names;
  PassStatistics statistics;
};

class Counter : public PassObserver {
 public:
  bool did_run(const PassStep&, Module&, const PassReport& report, Diagnostics&) override {
    statistics = report.statistics;
    return true;
  }
  PassStatistics statistics;
};

Run run(const std::string& text, const PatternSet& patterns, RewriteWatch* watch = nullptr) {
  Reading reading(text);
  Passes all;
  all.registry.add(
      {.name = "test", .summary = "tests", .anchor = Anchor::kGraph, .run = [&](PassRun& each) {
         return rewrite_greedily(each, patterns);
       }});
  Counter counter;
  Run result;
  result.problems = all.run(reading.module(), "test", {.rewrites = watch, .observers = {&counter}});
  if (result.problems.empty()) {
    Diagnostics found;
    verify(reading.module(), found);
    CHECK(test::lines_of(found, reading.context) == Lines{});
  }
  result.names = names(reading.module());
  result.statistics = counter.statistics;
  return result;
}

std::string simplified(const std::string& text) {
  Reading reading(text);
  Passes all;
  CHECK(all.run(reading.module(), "simplify") == Lines{});
  return print(reading.module());
}

}  // namespace

TEST_SUITE("greedy rewriting") {
  TEST_CASE("patterns are applied until none fits, and what nothing uses goes") {
    PatternSet set;
    set.add(
        {.name = "a-to-b", .fits = only("linalg.ExpOp"), .rewrite = become("linalg.CPU.LogOp")});
    set.add(
        {.name = "b-to-c", .fits = only("linalg.LogOp"), .rewrite = become("linalg.CPU.SinOp")});
    const Run done = run(chain({"ExpOp", "CosOp", "LogOp"}), set);
    CHECK(done.names == "SinOp CosOp SinOp");
    CHECK(done.statistics == PassStatistics{{"'a-to-b' applied", 1},
                                            {"'b-to-c' applied", 2},
                                            {"ops removed", 0},
                                            {"ops visited", 4}});
  }

  TEST_CASE("the pattern with the greatest benefit is applied, of equal ones the first") {
    PatternSet set;
    set.add({.name = "low",
             .benefit = 1,
             .fits = only("linalg.ExpOp"),
             .rewrite = become("linalg.CPU.LogOp")});
    set.add({.name = "high",
             .benefit = 3,
             .fits = only("linalg.ExpOp"),
             .rewrite = become("linalg.CPU.SinOp")});
    set.add({.name = "equal",
             .benefit = 3,
             .fits = only("linalg.ExpOp"),
             .rewrite = become("linalg.CPU.CosOp")});
    CHECK(run(chain({"ExpOp"}), set).names == "SinOp");
  }

  TEST_CASE("a pattern that does not fit leaves room for the next") {
    PatternSet set;
    set.add({.name = "never",
             .benefit = 2,
             .fits = only("linalg.ExpOp"),
             .rewrite = [](Rewriter&, Op&) { return false; }});
    set.add(
        {.name = "always", .fits = only("linalg.ExpOp"), .rewrite = become("linalg.CPU.SinOp")});
    CHECK(run(chain({"ExpOp"}), set).names == "SinOp");
  }

  TEST_CASE("an op that lost its last other user is visited again") {
    // The first op has two users, one of which is dead and goes only after the first was visited.
    const std::string text = fmt::format(
        "@main [mir_version:1] (%0:{0}) -> (%2:{0}) {{\n"
        "    linalg.CPU.ExpOp(%0) -> (%1:{0})\n"
        "    linalg.CPU.CosOp(%1) -> (%2:{0})\n"
        "    linalg.CPU.SinOp(%1) -> (%3:{0})\n"
        "    linalg.CPU.LogOp(%3) -> (%4:{0})\n"
        "    cf.ReturnOp (%2) -> ()\n}}\n",
        kType);
    PatternSet set;
    set.add(
        {.name = "alone", .fits = only("linalg.ExpOp"), .rewrite = [](Rewriter& rewriter, Op& op) {
           return op.result()->use_count() == 1 && become("linalg.CPU.NegOp")(rewriter, op);
         }});
    CHECK(run(text, set).names == "NegOp CosOp");
  }

  TEST_CASE("patterns that undo each other are named") {
    PatternSet set;
    set.add({.name = "there", .fits = only("linalg.ExpOp"), .rewrite = become("linalg.CPU.LogOp")});
    set.add({.name = "back", .fits = only("linalg.LogOp"), .rewrite = become("linalg.CPU.ExpOp")});
    const Run done = run(chain({"NegOp", "ExpOp"}), set);
    REQUIRE(done.problems.size() == 1);
    CHECK(done.problems[0].find("MIR0922") != std::string::npos);
    CHECK(done.problems[0].find("patterns 'there' and 'back' undo each other") !=
          std::string::npos);
  }

  TEST_CASE("a pattern that fits what it makes is named, and so is one that changes nothing") {
    PatternSet grows;
    grows.add(
        {.name = "pump", .fits = only("linalg.ExpOp"), .rewrite = become("linalg.CPU.ExpOp")});
    const Run grown = run(chain({"ExpOp"}), grows);
    REQUIRE(grown.problems.size() == 1);
    CHECK(grown.problems[0].find("pattern 'pump' fits what it makes") != std::string::npos);
    PatternSet idle;
    idle.add({.name = "idle", .fits = only("linalg.ExpOp"), .rewrite = [](Rewriter&, Op&) {
                return true;
              }});
    const Run idled = run(chain({"ExpOp"}), idle);
    REQUIRE(idled.problems.size() == 1);
    CHECK(idled.problems[0].find("pattern 'idle' fits what it makes") != std::string::npos);
  }

  TEST_CASE("what moves through a long graph, by several patterns, is no circle") {
    // A negation moves past each op, by one of two patterns in turn.
    std::vector<std::string_view> ops{"NegOp"};
    for (int i = 0; i < 500; ++i) ops.push_back(i % 2 == 0 ? "SinOp" : "CosOp");
    const auto sink = [](Rewriter& rewriter, Op& op) {
      Op* before = op.operand(0)->defining_op();
      if (before == nullptr || !before->is(OpId::kLinalgNeg)) return false;
      Value* const through = before->operand(0);
      const Type* type = op.result()->type();
      rewriter.set_insertion_point_after(op);
      Value* operand = op.result();
      Op* after = rewriter.create(
          {.name = before->op_name(), .operands = {&operand, 1}, .result_types = {&type, 1}});
      rewriter.replace_uses_if(*op.result(), *after->result(),
                               [&](const Use& use) { return use.user() != after; });
      rewriter.set_operand(op, 0, through);
      return true;
    };
    PatternSet set;
    set.add({.name = "past-sin", .fits = only("linalg.SinOp"), .rewrite = sink});
    set.add({.name = "past-cos", .fits = only("linalg.CosOp"), .rewrite = sink});
    const Run done = run(chain(ops), set);
    CHECK(done.problems == Lines{});
    CHECK(done.names.ends_with("CosOp NegOp"));
  }

  TEST_CASE("rewrites are counted, shown and ended") {
    PatternSet set;
    set.add(
        {.name = "a-to-b", .fits = only("linalg.ExpOp"), .rewrite = become("linalg.CPU.LogOp")});
    Lines shown;
    RewriteWatch watch;
    watch.limit = 2;
    watch.trace = [&](std::uint64_t number, std::string_view pattern, std::string_view op) {
      shown.push_back(fmt::format("{} {} {}", number, pattern, op));
    };
    CHECK(run(chain({"ExpOp", "ExpOp", "ExpOp"}), set, &watch).names == "LogOp LogOp ExpOp");
    CHECK(shown == Lines{"1 a-to-b linalg.CPU.ExpOp at test.mir:2:5",
                         "2 a-to-b linalg.CPU.ExpOp at test.mir:3:5"});
    CHECK(watch.made == 2);
    RewriteWatch none{.limit = 0};
    CHECK(run(chain({"ExpOp"}), set, &none).names == "ExpOp");
  }

  TEST_CASE("what is inside graphs is theirs") {
    PatternSet set;
    set.add(
        {.name = "a-to-b", .fits = only("linalg.ExpOp"), .rewrite = become("linalg.CPU.LogOp")});
    const std::string text = fmt::format(
        "@main [mir_version:1] (%0:{0}) -> (%1:{0}) {{\n"
        "    graph.SubGraphOp @g <CPU> {{\n"
        "        (%2:{0}) -> (%3:{0}) {{\n"
        "            linalg.CPU.ExpOp(%2) -> (%3:{0})\n"
        "            cf.ReturnOp (%3) -> ()\n        }}\n    }}\n"
        "    linalg.CPU.ExpOp(%0) -> (%1:{0})\n"
        "    cf.ReturnOp (%1) -> ()\n}}\n",
        kType);
    Reading reading(text);
    Passes all;
    all.registry.add(
        {.name = "test", .summary = "tests", .anchor = Anchor::kGraph, .run = [&](PassRun& each) {
           return rewrite_greedily(each, set);
         }});
    CHECK(all.run(reading.module(), "graph(@main:test)") == Lines{});
    const std::string once = print(reading.module());
    CHECK(once.find("LogOp(%0") != once.npos);
    CHECK(once.find("ExpOp(%2") != once.npos);
    CHECK(all.run(reading.module(), "graph(@g:test)") == Lines{});
    CHECK(print(reading.module()).find("ExpOp") == std::string::npos);
  }
}

TEST_SUITE("simplify") {
  /// Lines of the body, given the ops between `%x` and the return of `%y`.
  static std::string body(std::string_view input, std::string_view output, std::string_view lines) {
    return fmt::format(
        "@main [mir_version:1] (%x:{}) -> (%y:{}) {{\n{}cf.ReturnOp (%y) -> ()\n}}\n", input,
        output, lines);
  }
  static bool has(const std::string& text, std::string_view part) {
    return text.find(part) != text.npos;
  }

  TEST_CASE("ops that undo each other go") {
    CHECK(names(Reading(simplified(chain({"NegOp", "NegOp", "SinOp"}))).module()) == "SinOp");
    CHECK(names(Reading(simplified(chain({"NegOp", "NegOp", "NegOp"}))).module()) == "NegOp");
    std::vector<std::string_view> many(301, "NegOp");
    CHECK(names(Reading(simplified(chain(many))).module()) == "NegOp");
    const std::string transposes = body(
        "tensor<[2, 3, 4], Float32, CPU>", "tensor<[2, 3, 4], Float32, CPU>",
        "linalg.CPU.TransposeOp [dim0:1, dim1:2] (%x) -> (%a:tensor<[2, 4, 3], Float32, CPU>)\n"
        "linalg.CPU.TransposeOp [dim0:1, dim1:2] (%a) -> (%b:tensor<[2, 3, 4], Float32, CPU>)\n"
        "linalg.CPU.SinOp (%b) -> (%y:tensor<[2, 3, 4], Float32, CPU>)\n");
    CHECK_FALSE(has(simplified(transposes), "TransposeOp"));
  }

  TEST_CASE("near misses stay") {
    // Other dimensions: with extents that are equal the types do not tell.
    const std::string others = body(
        "tensor<[3, 3, 3], Float32, CPU>", "tensor<[3, 3, 3], Float32, CPU>",
        "linalg.CPU.TransposeOp [dim0:0, dim1:1] (%x) -> (%a:tensor<[3, 3, 3], Float32, CPU>)\n"
        "linalg.CPU.TransposeOp [dim0:1, dim1:2] (%a) -> (%y:tensor<[3, 3, 3], Float32, CPU>)\n");
    CHECK(has(simplified(others), "dim0:0"));
    CHECK(has(simplified(others), "dim0:1"));
    const std::string clips = body(
        kType, kType,
        "linalg.CPU.ClipOp [min_val:0.0, max_val:2.0] (%x) -> (%a:tensor<[2], Float32, CPU>)\n"
        "linalg.CPU.ClipOp [min_val:0.0, max_val:1.0] (%a) -> (%y:tensor<[2], Float32, CPU>)\n");
    CHECK(has(simplified(clips), "max_val:2.0"));
    // Another device is a copy.
    const std::string copies =
        body(kType, "tensor<[2], Float32, QNN>",
             "linalg.CPU.X2XOp [device:QNN] (%x) -> (%y:tensor<[2], Float32, QNN>)\n");
    CHECK(has(simplified(copies), "X2XOp"));
    // An extent that nobody knows: equal types need not be equal extents.
    const std::string views =
        body("tensor<[?, 2], Float32, CPU>", "tensor<[?, 2], Float32, CPU>",
             "linalg.CPU.ViewOp [to_shape:[-1, 2]] (%x) -> (%y:tensor<[?, 2], Float32, CPU>)\n");
    CHECK(has(simplified(views), "ViewOp"));
    // Not the same op between.
    CHECK(names(Reading(simplified(chain({"NegOp", "AbsOp", "NegOp"}))).module()) ==
          "NegOp AbsOp NegOp");
    CHECK(names(Reading(simplified(chain({"SinOp", "SinOp"}))).module()) == "SinOp SinOp");
  }

  TEST_CASE("what repeats itself or changes nothing goes") {
    CHECK(names(Reading(simplified(chain({"AbsOp", "AbsOp", "ReLUOp", "ReLUOp"}))).module()) ==
          "AbsOp ReLUOp");
    CHECK(names(Reading(simplified(chain({"SinOp", "CloneOp", "ContiguousOp"}))).module()) ==
          "SinOp");
    const std::string clips = body(
        kType, kType,
        "linalg.CPU.ClipOp [min_val:0.0, max_val:2.0] (%x) -> (%a:tensor<[2], Float32, CPU>)\n"
        "linalg.CPU.ClipOp [max_val:2.0, min_val:0.0] (%a) -> (%y:tensor<[2], Float32, CPU>)\n");
    CHECK(names(Reading(simplified(clips)).module()) == "ClipOp");
    // The views between are of another shape, the whole is of the same.
    const std::string views =
        body("tensor<[$S, 4], Float32, CPU>", "tensor<[$S, 4], Float32, CPU>",
             "linalg.CPU.ViewOp [to_shape:[$S, 4]] (%x) -> (%a:tensor<[$S, 4], Float32, CPU>)\n"
             "linalg.CPU.SinOp (%a) -> (%y:tensor<[$S, 4], Float32, CPU>)\n");
    CHECK_FALSE(has(simplified(views), "ViewOp"));
  }

  TEST_CASE("what says something of a value between stays") {
    const std::string noted =
        body(kType, kType,
             "linalg.CPU.NegOp (%x) -> (%a:tensor<[2], Float32, "
             "CPU>[quant_recipe:QuantSpec(Raw(type: Float32), uuid=1, solved=1)])\n"
             "linalg.CPU.NegOp (%a) -> (%y:tensor<[2], Float32, CPU>)\n");
    Reading reading(noted);
    Passes all;
    CHECK(all.run(reading.module(), "simplify") == Lines{});
    CHECK(names(reading.module()) == "NegOp NegOp");
  }

  TEST_CASE("constants come last where the other operand decides the type") {
    const std::string product =
        body(kType, kType,
             "linalg.CPU.MulOp (%c:tensor<[1], Float32, CPU>[constant:[2.0]], %x) -> "
             "(%y:tensor<[2], Float32, CPU>)\n");
    CHECK(has(simplified(product), "MulOp(%x:"));
    const std::string wide = body("tensor<[1], Float32, CPU>", kType,
                                  "linalg.CPU.MulOp (%c:tensor<[2], Float32, CPU>[constant:[2.0, "
                                  "3.0]], %x) -> (%y:tensor<[2], Float32, CPU>)\n");
    CHECK(has(simplified(wide), "MulOp(%c:"));
    const std::string quotient =
        body(kType, kType,
             "linalg.CPU.DivOp (%c:tensor<[1], Float32, CPU>[constant:[2.0]], %x) -> "
             "(%y:tensor<[2], Float32, CPU>)\n");
    CHECK(has(simplified(quotient), "DivOp(%c:"));
  }

  TEST_CASE("generated modules stay sound, and a second run finds nothing") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      CAPTURE(seed);
      Reading reading(
          test::generate_module({.seed = seed, .graphs = static_cast<int>(seed % 4), .ops = 12}));
      Passes all;
      REQUIRE(all.run(reading.module(), "simplify",
                      {.threads = 1 + static_cast<unsigned>(seed % 3)}) == Lines{});
      Diagnostics found;
      CHECK(verify(reading.module(), found));
      CHECK(test::lines_of(found, reading.context) == Lines{});
      Counter counter;
      class Unchanged : public PassObserver {
        bool did_run(const PassStep&, Module&, const PassReport& report, Diagnostics&) override {
          CHECK(report.result == PassResult::kUnchanged);
          return true;
        }
      } unchanged;
      CHECK(all.run(reading.module(), "simplify", {.observers = {&unchanged}}) == Lines{});
    }
  }
}

}  // namespace rewrite_test

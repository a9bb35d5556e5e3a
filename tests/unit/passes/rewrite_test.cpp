// Patterns, and the driver that applies them.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "../seeds.hpp"
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
  for (Op* op : module.body().only_block().ops()) {
    if (op->has(Trait::kTerminator)) continue;
    text += (text.empty() ? "" : " ") + std::string(op->info().mnemonic);
  }
  return text;
}

/// Matches any root.
PatternMatch match_any(Op& root) {
  return PatternMatch::of({&root});
}

/// Replaces the root by an op of this name with the same operand and type.
auto become(std::string_view spelling) {
  return [spelling](Rewriter& rewriter, const PatternMatch& match) {
    Op& root = match.root();
    Value* operand = root.operand(0);
    const Type* type = root.result()->type();
    Op* made = rewriter.create_detached({.name = rewriter.context().op_name(spelling),
                                         .operands = {&operand, 1},
                                         .result_types = {&type, 1}});
    rewriter.replace(root, *made);
  };
}

/// A pattern that replaces ops of one name ("ExpOp") by ops of another.
RewritePattern replacing(std::string name, std::string_view from, std::string_view to,
                         unsigned benefit = 1) {
  const std::string spelling = fmt::format("linalg.CPU.{}", to);
  return {.name = std::move(name),
          .benefit = benefit,
          .roots = {.names = {fmt::format("linalg.{}", from)}},
          .makes = {fmt::format("linalg.{}", to)},
          .match = match_any,
          .rewrite = [spelling](Rewriter& rewriter, const PatternMatch& match) {
            become(spelling)(rewriter, match);
          }};
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
      pattern_pass({.name = "test",
                    .summary = "tests",
                    .anchor = Anchor::kGraph,
                    .patterns = [&](IRContext&, const PassOptions&) { return patterns; }}));
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
  TEST_CASE("patterns are applied until none matches, and dead ops are erased") {
    PatternSet set;
    set.add(replacing("a-to-b", "ExpOp", "LogOp"));
    set.add(replacing("b-to-c", "LogOp", "SinOp"));
    const Run done = run(chain({"ExpOp", "CosOp", "LogOp"}), set);
    CHECK(done.names == "SinOp CosOp SinOp");
    CHECK(done.statistics == PassStatistics{{"'a-to-b' applied", 1},
                                            {"'b-to-c' applied", 2},
                                            {"ops removed", 0},
                                            {"ops visited", 4},
                                            {"sweeps", 2}});
  }

  TEST_CASE("a library user applies patterns in three lines") {
    Reading reading(chain({"ExpOp"}));
    PatternSet set;
    set.add(replacing("a-to-b", "ExpOp", "LogOp"));
    const FrozenPatterns patterns(std::move(set));
    Diagnostics diagnostics;
    const GreedyReport report =
        rewrite_greedily(reading.module(), reading.module().body(), patterns, {}, diagnostics);
    CHECK(report.has_changed);
    CHECK(report.applied == std::vector<std::uint64_t>{1});
    CHECK(names(reading.module()) == "LogOp");
    CHECK_FALSE(
        rewrite_greedily(reading.module(), reading.module().body(), patterns, {}, diagnostics)
            .has_changed);
  }

  TEST_CASE("the pattern with the greatest benefit is applied, of equal ones the first") {
    PatternSet set;
    set.add(replacing("low", "ExpOp", "LogOp", 1));
    set.add(replacing("high", "ExpOp", "SinOp", 3));
    set.add(replacing("equal", "ExpOp", "CosOp", 3));
    CHECK(run(chain({"ExpOp"}), set).names == "SinOp");
  }

  TEST_CASE("roots are chosen by name, by traits or by both") {
    RewritePattern by_trait = replacing("pure", "ExpOp", "SinOp");
    by_trait.roots = {.traits = Trait::kIdempotent | Trait::kPure};
    PatternSet set;
    set.add(by_trait);
    CHECK(run(chain({"ExpOp", "AbsOp", "NegOp"}), set).names == "ExpOp SinOp NegOp");
    RewritePattern by_both = by_trait;
    by_both.roots.names = {"linalg.NegOp", "linalg.ReLUOp"};
    PatternSet both;
    both.add(by_both);
    CHECK(run(chain({"NegOp", "AbsOp", "ReLUOp"}), both).names == "NegOp AbsOp SinOp");
    RewritePattern any = replacing("any", "ExpOp", "SinOp", 2);
    any.roots = {};
    any.match = [](Op& root) {
      return root.is(OpId::kLinalgCos) ? PatternMatch::of({&root})
                                       : PatternMatch::failed("it is no cosine", root);
    };
    PatternSet mixed;
    mixed.add(replacing("low", "CosOp", "NegOp", 1));
    mixed.add(any);
    mixed.add(replacing("high", "CosOp", "LogOp", 3));
    CHECK(run(chain({"CosOp", "AbsOp"}), mixed).names == "LogOp AbsOp");
  }

  TEST_CASE("a pattern is asked only where ops of the kinds that it states define the operands") {
    const auto of = [](OperandDefinitions definitions,
                       std::initializer_list<std::string_view> ops) {
      RewritePattern pattern = replacing("p", "ExpOp", "SinOp");
      pattern.definitions = definitions;
      PatternSet set;
      set.add(pattern);
      return run(chain(ops), set).names;
    };
    CHECK(of({.first = OpId::kLinalgNeg}, {"ExpOp", "NegOp", "ExpOp", "ExpOp"}) ==
          "ExpOp NegOp SinOp ExpOp");
    CHECK(of({.first = OperandDefinitions::kNoOp}, {"ExpOp", "NegOp", "ExpOp"}) ==
          "SinOp NegOp ExpOp");
    // The operand of the first op is an input, and no op has a second operand.
    CHECK(of({.first = OperandDefinitions::kConstant}, {"ExpOp", "NegOp", "ExpOp"}) ==
          "ExpOp NegOp ExpOp");
    CHECK(of({.second = OperandDefinitions::kConstant}, {"ExpOp", "NegOp"}) == "SinOp NegOp");
    CHECK(of({.second = OpId::kLinalgNeg}, {"NegOp", "ExpOp"}) == "NegOp ExpOp");
    CHECK(of({.second = OpId::kLinalgNeg, .commute = true}, {"NegOp", "ExpOp"}) == "NegOp SinOp");
    CHECK(of({}, {"NegOp", "ExpOp"}) == "NegOp SinOp");
  }

  TEST_CASE("a pattern that does not match leaves room for the next, and says why") {
    PatternSet set;
    RewritePattern never = replacing("never", "ExpOp", "LogOp", 2);
    never.match = [](Op& root) {
      return PatternMatch::failed("an input is no constant", *root.next());
    };
    set.add(never);
    set.add(replacing("always", "ExpOp", "SinOp"));
    CHECK(run(chain({"ExpOp"}), set).names == "SinOp");
    Reading reading(chain({"ExpOp", "CosOp"}));
    Op& exp = *reading.module().body().entry()->front();
    const FrozenPatterns patterns(std::move(set));
    const auto found = mismatches(patterns, exp);
    REQUIRE(found.size() == 1);
    CHECK(found[0].pattern->name == "never");
    CHECK(found[0].condition == "an input is no constant");
    CHECK(found[0].at == exp.next());
    CHECK(mismatches(patterns, *exp.next()).empty());
  }

  TEST_CASE("new ops have the fused locations of the matched ops") {
    const std::string text = fmt::format(
        "@main [mir_version:1] (%0:{0}) -> (%2:{0}) {{\n"
        "    linalg.CPU.ExpOp(%0) -> (%1:{0}) loc(\"a\")\n"
        "    linalg.CPU.LogOp(%1) -> (%2:{0}) loc(\"b\")\n"
        "    cf.ReturnOp (%2) -> ()\n}}\n",
        kType);
    RewritePattern both = replacing("both", "LogOp", "SinOp");
    both.match = [](Op& root) { return PatternMatch::of({&root, root.operand(0)->defining_op()}); };
    PatternSet set;
    set.add(both);
    set.add(replacing("one", "ExpOp", "CosOp"));
    Reading reading(text);
    Diagnostics diagnostics;
    rewrite_greedily(reading.module(), reading.module().body(), FrozenPatterns(std::move(set)), {},
                     diagnostics);
    const std::string after = print(reading.module());
    const auto line_of = [&](std::string_view name) {
      const auto at = after.find(name);
      return at == after.npos ? "" : after.substr(at, after.find('\n', at) - at);
    };
    CHECK(line_of("CosOp").ends_with("loc(\"a\")"));
    CHECK(line_of("SinOp").ends_with("loc(fused[\"b\", \"a\"])"));
  }

  // -- what is visited again ----------------------------------------------------------------------

  TEST_CASE("an op that lost its last other user is visited again") {
    // The first op has two users. One is dead, and is erased after the first op was visited.
    const std::string text = fmt::format(
        "@main [mir_version:1] (%0:{0}) -> (%2:{0}) {{\n"
        "    linalg.CPU.ExpOp(%0) -> (%1:{0})\n"
        "    linalg.CPU.CosOp(%1) -> (%2:{0})\n"
        "    linalg.CPU.SinOp(%1) -> (%3:{0})\n"
        "    linalg.CPU.LogOp(%3) -> (%4:{0})\n"
        "    cf.ReturnOp (%2) -> ()\n}}\n",
        kType);
    RewritePattern alone = replacing("alone", "ExpOp", "NegOp");
    alone.match = [](Op& root) {
      return root.result()->use_count() == 1 ? PatternMatch::of({&root})
                                             : PatternMatch::failed("it has other users", root);
    };
    PatternSet set;
    set.add(alone);
    const Run done = run(text, set);
    CHECK(done.names == "NegOp CosOp");
    // Events are enough: the second sweep only confirms.
    CHECK(done.statistics.at("sweeps") == 2);
  }

  TEST_CASE("the definition of an operand that is replaced in place is visited again") {
    // Rewriting the last op makes the chain before it dead, from its end on.
    RewritePattern skip = replacing("skip", "SinOp", "SinOp");
    skip.makes = {};
    skip.match = [](Op& root) {
      Value* input = &root.parent_region()->entry_arguments()[0];
      return root.operand(0) == input ? PatternMatch::failed("it uses the input", root)
                                      : PatternMatch::of({&root}, {input});
    };
    skip.rewrite = [](Rewriter& rewriter, const PatternMatch& match) {
      rewriter.set_operand(match.root(), 0, &match.value(0));
    };
    PatternSet set;
    set.add(skip);
    const Run done = run(chain({"ExpOp", "CosOp", "LogOp", "SinOp"}), set);
    CHECK(done.names == "SinOp");
    CHECK(done.statistics.at("ops removed") == 3);
    CHECK(done.statistics.at("sweeps") == 2);
  }

  TEST_CASE("ops nested in a new op are visited") {
    const std::string text = fmt::format(
        "@main [mir_version:1] (%0:{0}) -> () {{\n"
        "    my.wrap (%0) -> () {{\n        my.in (%0) -> ()\n    }}\n"
        "    my.copy (%0) -> ()\n"
        "}}\n",
        kType);
    PatternSet set;
    set.add({.name = "copy",
             .roots = {.names = {"my.copy"}},
             .makes = {"my.wrap", "my.in"},
             .match = match_any,
             .rewrite = [](Rewriter& rewriter, const PatternMatch& match) {
               Op& root = match.root();
               RewriteMapping mapping;
               rewriter.set_insertion_point(root);
               rewriter.clone(*root.previous(), mapping);
               rewriter.erase(root);
             }});
    std::size_t visits = 0;
    set.add({.name = "look", .roots = {.names = {"my.in"}}, .match = [&](Op& root) {
               ++visits;
               return PatternMatch::failed("it only looks", root);
             }});
    Reading reading(text);
    Diagnostics diagnostics;
    const GreedyReport report = rewrite_greedily(reading.module(), reading.module().body(),
                                                 FrozenPatterns(std::move(set)), {}, diagnostics);
    CHECK_FALSE(report.has_failed);
    // Each sweep visits what is there, and the new op is visited because it is new.
    CHECK(report.sweeps == 2);
    CHECK(visits == 1 + 1 + 2);
  }

  TEST_CASE("a changed type is heard by the definition and the users, so that types propagate") {
    // The type is known at the end of the chain and goes from users to definitions.
    std::string text = "@main [mir_version:1] (%0:tensor<[?], Float32, CPU>) -> () {\n";
    constexpr int kLength = 20;
    for (int i = 0; i < kLength; ++i) {
      text += fmt::format("    my.like (%{}) -> (%{}:tensor<[{}], Float32, CPU>)\n", i, i + 1,
                          i + 1 == kLength ? "2" : "?");
    }
    Reading reading(text + "}\n");
    PatternSet set;
    set.add({.name = "refine",
             .roots = {.names = {"my.like"}},
             .match =
                 [](Op& root) {
                   const Type* type = root.result()->type();
                   const bool is_news = type->spelling() == "tensor<[2], Float32, CPU>" &&
                                        root.operand(0)->type() != type;
                   return is_news ? PatternMatch::of({&root})
                                  : PatternMatch::failed("nothing more is known", root);
                 },
             .rewrite =
                 [](Rewriter& rewriter, const PatternMatch& match) {
                   rewriter.set_type(*match.root().operand(0), match.root().result()->type());
                 }});
    Diagnostics diagnostics;
    const GreedyReport report = rewrite_greedily(reading.module(), reading.module().body(),
                                                 FrozenPatterns(std::move(set)), {}, diagnostics);
    CHECK(report.applied == std::vector<std::uint64_t>{kLength});
    CHECK(report.sweeps == 2);
    CHECK(reading.module().body().entry_arguments()[0].type()->spelling() ==
          "tensor<[2], Float32, CPU>");
  }

  TEST_CASE("ops outside the region and the op that has it are not rewritten") {
    const std::string text = fmt::format(
        "@main [mir_version:1] (%0:{0}) -> (%1:{0}) {{\n"
        "    linalg.CPU.ExpOp(%0) -> (%1:{0})\n"
        "    my.wrap (%1) -> () {{\n"
        "        linalg.CPU.ExpOp(%1) -> (%2:{0})\n"
        "        my.use (%2, %1) -> ()\n"
        "    }}\n"
        "    cf.ReturnOp (%1) -> ()\n}}\n",
        kType);
    Reading reading(text);
    Module& module = reading.module();
    PatternSet set;
    set.add(replacing("a-to-b", "ExpOp", "LogOp"));
    set.add({.name = "drop",
             .roots = {.names = {"my.use"}},
             .match =
                 [](Op& root) {
                   return root.operand_count() == 2 ? PatternMatch::of({&root})
                                                    : PatternMatch::failed("it is done", root);
                 },
             .rewrite =
                 [](Rewriter& rewriter, const PatternMatch& match) {
                   Value* const kept[] = {match.root().operand(0)};
                   rewriter.set_operands(match.root(), kept);
                 }});
    set.add({.name = "wrap",
             .roots = {.names = {"my.wrap"}},
             .match = match_any,
             .rewrite = [](Rewriter& rewriter, const PatternMatch& match) {
               rewriter.set_symbol(match.root(), rewriter.context().intern("x"));
             }});
    Diagnostics diagnostics;
    rewrite_greedily(module, *test::find_op(module.body(), "my.wrap")->region(),
                     FrozenPatterns(std::move(set)), {}, diagnostics);
    CHECK(names(module) == "ExpOp wrap");
    CHECK_FALSE(test::find_op(module.body(), "my.wrap")->has_symbol());
    CHECK(test::find_op(module.body(), "my.use")->operand_count() == 1);
    CHECK(test::find_op(module.body(), "linalg.CPU.LogOp") != nullptr);
  }

  // -- endings ------------------------------------------------------------------------------------

  TEST_CASE("patterns that undo each other are named") {
    PatternSet set;
    set.add(replacing("there", "ExpOp", "LogOp"));
    set.add(replacing("back", "LogOp", "ExpOp"));
    const Run done = run(chain({"NegOp", "ExpOp"}), set);
    REQUIRE(done.problems.size() == 1);
    CHECK(done.problems[0].find("MIR0922") != std::string::npos);
    CHECK(done.problems[0].find("patterns 'there' and 'back' undo each other") !=
          std::string::npos);
  }

  TEST_CASE("a pattern that matches its own result is named") {
    PatternSet grows;
    grows.add(replacing("pump", "ExpOp", "ExpOp"));
    const Run grown = run(chain({"ExpOp"}), grows);
    REQUIRE(grown.problems.size() == 1);
    CHECK(grown.problems[0].find("pattern 'pump' matches its own result") != std::string::npos);
  }

  TEST_CASE("a pattern that breaks what it declares is named") {
    const auto problems = [](RewritePattern pattern) {
      PatternSet set;
      set.add(std::move(pattern));
      return run(chain({"ExpOp"}), set).problems;
    };
    RewritePattern idle = replacing("idle", "ExpOp", "LogOp");
    idle.rewrite = [](Rewriter&, const PatternMatch&) {};
    CHECK(problems(idle) == Lines{"2:5 MIR0922 pattern 'idle' matches and changes nothing"});
    RewritePattern hidden = replacing("hidden", "ExpOp", "LogOp");
    hidden.makes = {"linalg.SinOp"};
    CHECK(problems(hidden) == Lines{"2:5 MIR0921 pattern 'hidden' creates 'linalg.LogOp', which it "
                                    "does not declare"});
    RewritePattern hasty = replacing("hasty", "ExpOp", "LogOp");
    hasty.match = [](Op& root) {
      Rewriter(root.module()).set_path(root, root.module().context().intern("x"));
      return PatternMatch::failed("it edits first", root);
    };
    CHECK(problems(hasty) == Lines{"2:5 MIR0921 pattern 'hasty' edits while it matches"});
  }

  TEST_CASE("an op that moves through a long graph, by several patterns, is no cycle") {
    // A negation moves past each op, by one of two patterns in turn.
    std::vector<std::string_view> ops{"NegOp"};
    for (int i = 0; i < 500; ++i) ops.push_back(i % 2 == 0 ? "SinOp" : "CosOp");
    const auto match = [](Op& op) {
      Op* before = op.operand(0)->defining_op();
      return before != nullptr && before->is(OpId::kLinalgNeg)
                 ? PatternMatch::of({&op, before})
                 : PatternMatch::failed("no negation defines the operand", op);
    };
    const auto sink = [](Rewriter& rewriter, const PatternMatch& found) {
      Op &op = found.root(), &before = *found.ops()[1];
      Value* const through = before.operand(0);
      const Type* type = op.result()->type();
      rewriter.set_insertion_point_after(op);
      Value* operand = op.result();
      Op* after = rewriter.create(
          {.name = before.op_name(), .operands = {&operand, 1}, .result_types = {&type, 1}});
      rewriter.replace_uses_if(*op.result(), *after->result(),
                               [&](const Use& use) { return use.user() != after; });
      rewriter.set_operand(op, 0, through);
    };
    PatternSet set;
    for (const std::string name : {"Sin", "Cos"}) {
      set.add({.name = "past-" + name,
               .roots = {.names = {"linalg." + name + "Op"}},
               .makes = {"linalg.NegOp"},
               .match = match,
               .rewrite = sink});
    }
    const Run done = run(chain(ops), set);
    CHECK(done.problems == Lines{});
    CHECK(done.names.ends_with("CosOp NegOp"));
  }

  TEST_CASE("rewrites are counted, traced and limited") {
    PatternSet set;
    set.add(replacing("a-to-b", "ExpOp", "LogOp"));
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

  TEST_CASE("a pass on a graph does not rewrite what is inside nested graphs") {
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
    all.registry.add(pattern_pass({.name = "test",
                                   .summary = "tests",
                                   .anchor = Anchor::kGraph,
                                   .patterns = [](IRContext&, const PassOptions&) {
                                     PatternSet set;
                                     set.add(replacing("a-to-b", "ExpOp", "LogOp"));
                                     return set;
                                   }}));
    CHECK(all.run(reading.module(), "graph(@main:test)") == Lines{});
    const std::string once = print(reading.module());
    CHECK(once.find("LogOp(%0") != once.npos);
    CHECK(once.find("ExpOp(%2") != once.npos);
    CHECK(all.run(reading.module(), "graph(@g:test)") == Lines{});
    CHECK(print(reading.module()).find("ExpOp") == std::string::npos);
  }

  TEST_CASE("patterns are prepared once for a module, however many graphs it has") {
    Reading reading(test::generate_module({.seed = 3, .graphs = 6, .ops = 5}));
    int prepared = 0;
    Passes all;
    all.registry.add(pattern_pass({.name = "test",
                                   .summary = "tests",
                                   .anchor = Anchor::kGraph,
                                   .patterns = [&](IRContext&, const PassOptions&) {
                                     ++prepared;
                                     return PatternSet();
                                   }}));
    CHECK(all.run(reading.module(), "test", {.threads = 2}) == Lines{});
    CHECK(prepared == 1);
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
    // An unknown extent: equal types need not be equal extents.
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

  TEST_CASE("ops that may quantise anew stay") {
    constexpr std::string_view kCodes = "tensor<[2], Int8, CPU>";
    const std::string recipe =
        " [quant_recipe:QuantSpec(SymPerTensor(quant_min: -128, quant_max: 127, quant_to_type: "
        "Int8, "
        "scale_type: Float32), uuid=1, solved=0)]";
    const auto after = [](std::string_view type, std::string_view lines) {
      Reading reading(body(type, type, lines));
      Passes all;
      CHECK(all.run(reading.module(), "simplify") == Lines{});
      return names(reading.module());
    };
    // Numbers wrap: -128 is its own negative. Codes of a quantised type saturate.
    CHECK(after(kCodes, fmt::format("linalg.CPU.NegOp (%x) -> (%a:{0})\n"
                                    "linalg.CPU.NegOp (%a) -> (%y:{0})\n",
                                    kCodes)) == "");
    constexpr std::string_view kQuantised = "tensor<[2], Int8PerTensor, CPU>";
    CHECK(after(kQuantised, fmt::format("linalg.CPU.NegOp (%x) -> (%a:{0})\n"
                                        "linalg.CPU.NegOp (%a) -> (%y:{0})\n",
                                        kQuantised)) == "NegOp NegOp");
    CHECK(after(kType, fmt::format("linalg.CPU.ContiguousOp{1} (%x) -> (%y:{0})\n", kType,
                                   recipe)) == "ContiguousOp");
    CHECK(after(kType, fmt::format("linalg.CPU.ReLUOp (%x) -> (%a:{0})\n"
                                   "linalg.CPU.ReLUOp{1} (%a) -> (%y:{0})\n",
                                   kType, recipe)) == "ReLUOp ReLUOp");
    // Moves are exact for any element.
    CHECK(after("tensor<[2, 2], Int8, CPU>",
                "linalg.CPU.TransposeOp [dim0:0, dim1:1] (%x) -> (%a:tensor<[2, 2], Int8, CPU>)\n"
                "linalg.CPU.TransposeOp [dim0:0, dim1:1] (%a) -> (%b:tensor<[2, 2], Int8, CPU>)\n"
                "linalg.CPU.NegOp (%b) -> (%y:tensor<[2, 2], Int8, CPU>)\n") == "NegOp");
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
    for (const std::uint64_t seed : test::seeds_of(300)) {
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

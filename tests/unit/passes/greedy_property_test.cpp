// The greedy driver against one that visits everything again after each rewrite, on generated
// modules and pattern sets.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "../ir/isomorphic.hpp"
#include "../seeds.hpp"
#include "ir/rewrite/settle_ports.hpp"
#include "known_passes.hpp"
#include "mir/rewrite_patterns.hpp"
#include "mir/verify.hpp"
#include "module_generator.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;

namespace greedy_property_test {

namespace {

/// Rewrites as the documentation of the driver defines the result, and in no better way.
class NaiveDriver {
 public:
  NaiveDriver(Module& module, Region& region, const FrozenPatterns& patterns)
      : region_(region), patterns_(patterns), rewriter_(module) {}

  void apply() {
    while (rewrite_first(region_)) {
    }
    erase_unused(region_);
  }

 private:
  bool rewrite_first(Region& region) {
    for (Block* block = region.entry(); block != nullptr; block = block->next()) {
      for (Op* op : block->ops()) {
        if (rewrite(*op)) return true;
        if (op->has(Trait::kIsolated)) continue;
        for (Region* in = op->first_region(); in != nullptr; in = in->next()) {
          if (rewrite_first(*in)) return true;
        }
      }
    }
    return false;
  }
  bool rewrite(Op& op) {
    if (is_dead(op)) {
      rewriter_.erase(op);
      return true;
    }
    for (const std::uint32_t number : patterns_.with_root(op.info())) {
      const RewritePattern& pattern = patterns_.patterns()[number];
      const PatternMatch match = pattern.match(op);
      if (!match) continue;
      pattern.rewrite(rewriter_, match);
      return true;
    }
    return false;
  }
  void erase_unused(Region& region) {
    rewriter_.erase_unused_free_values(region);
    for (Block* block = region.entry(); block != nullptr; block = block->next()) {
      for (Op* op : block->ops()) {
        if (op->has(Trait::kIsolated)) continue;
        for (Region* in = op->first_region(); in != nullptr; in = in->next()) erase_unused(*in);
      }
    }
  }

  Region& region_;
  const FrozenPatterns& patterns_;
  Rewriter rewriter_;
};

// -- patterns whose result does not depend on the order of rewrites -------------------------------

/// Whether the op has no name yet and none that means anything.
bool can_mark(const Op& op) {
  return !op.has_path() && op.row() != nullptr && op.row()->weights.empty() &&
         op.row()->effects == Effect::kNone && op.result_count() != 0;
}

bool is_marked(const Op* op, std::string_view mark) {
  return op != nullptr && op->has_path() && op->module().context().text(op->path()) == mark;
}

constexpr std::string_view kMark = "mark";

/// Copies a mark from definitions to users.
RewritePattern spread_mark() {
  return {.name = "spread-mark",
          .match =
              [](Op& root) {
                if (!can_mark(root)) return PatternMatch::failed("it has a name", root);
                for (const Use& use : root.operand_uses()) {
                  if (is_marked(use.value()->defining_op(), kMark))
                    return PatternMatch::of({&root});
                }
                return PatternMatch::failed("no operand has the mark", root);
              },
          .rewrite =
              [](Rewriter& rewriter, const PatternMatch& match) {
                rewriter.set_path(match.root(), rewriter.context().intern(kMark));
              }};
}

/// Renames one kind of op to another. Neither is one that other patterns fold.
RewritePattern rename(std::string_view from, std::string_view to) {
  return {.name = fmt::format("{}-to-{}", from, to),
          .benefit = 2,
          .roots = {.names = {fmt::format("linalg.{}", from)}},
          .makes = {fmt::format("linalg.{}", to)},
          .match = [](Op& root) { return PatternMatch::of({&root}); },
          .rewrite =
              [to](Rewriter& rewriter, const PatternMatch& match) {
                Op& root = match.root();
                Value* operand = root.operand(0);
                const Type* type = root.result()->type();
                Op* made = rewriter.create_detached(
                    {.name = rewriter.context().op_name(fmt::format("linalg.CPU.{}", to)),
                     .operands = {&operand, 1},
                     .result_types = {&type, 1},
                     .path = root.path()});
                rewriter.set_attributes(*made->result(), root.result()->attributes());
                rewriter.replace(root, *made);
              }};
}

PatternSet random_patterns(std::mt19937_64& engine, const PatternSet& simplifications) {
  constexpr std::string_view kKinds[] = {"ExpOp",  "SinOp",  "CosOp",
                                         "SiLUOp", "GELUOp", "SigmoidOp"};
  const auto one_in = [&](unsigned n) { return engine() % n == 0; };
  PatternSet set;
  for (const RewritePattern& each : simplifications.patterns()) {
    if (!one_in(4)) set.add(each);
  }
  if (!one_in(3)) set.add(spread_mark());
  // Only to later kinds, so that renaming ends.
  for (std::size_t from = 0; from + 1 < std::size(kKinds); ++from) {
    const std::size_t to = from + 1 + engine() % (std::size(kKinds) - from - 1);
    if (one_in(2)) set.add(rename(kKinds[from], kKinds[to]));
  }
  return set;
}

/// The patterns of `simplify`.
PatternSet simplifications(IRContext& context) {
  Passes all;
  const Pass* pass = all.registry.find("simplify");
  REQUIRE(pass != nullptr);
  Diagnostics problems;
  const auto prepared = pass->prepare(context, PassOptions(pass->options), problems);
  PatternSet set;
  for (const RewritePattern& each :
       static_cast<const FrozenPatterns*>(prepared.get())->patterns()) {
    set.add(each);
  }
  return set;
}

/// Ops of few kinds, which undo, repeat and do nothing, some of them in a nested region.
std::string redundant_module(std::uint64_t seed) {
  constexpr std::string_view kType = "tensor<[2], Float32, CPU>";
  constexpr std::string_view kUnary[] = {"ExpOp",  "SinOp",     "CosOp",   "SiLUOp",
                                         "GELUOp", "NegOp",     "NegOp",   "AbsOp",
                                         "ReLUOp", "SigmoidOp", "CloneOp", "ContiguousOp"};
  std::mt19937_64 engine(seed);
  const auto below = [&](std::size_t bound) { return engine() % bound; };
  std::string text = fmt::format("@main [mir_version:1] (%0:{0}, %1:{0}) -> (%r:{0}) {{\n", kType);
  std::size_t next = 2;
  const auto add_ops = [&](std::size_t count) {
    for (; count != 0; --count) {
      // Mostly of the value before, so that ops meet their like.
      const std::size_t operand = below(3) != 0 ? next - 1 : below(next);
      if (below(6) == 0) {
        text +=
            fmt::format("linalg.CPU.MulOp (%c{0}:{2}[constant:[{0}.5, 2.0]], %{1}) -> (%{3}:{2})\n",
                        below(3), operand, kType, next);
      } else {
        text += fmt::format("linalg.CPU.{} (%{}) -> (%{}:{})\n", kUnary[below(std::size(kUnary))],
                            operand, next, kType);
      }
      ++next;
    }
  };
  add_ops(5 + below(20));
  const std::size_t outside = next;
  if (below(2) == 0) {
    text += "my.wrap () -> () {\n";
    add_ops(4 + below(8));
    text += fmt::format("my.use (%{}) -> ()\n}}\n", next - 1);
  }
  text += fmt::format("linalg.CPU.AddOp (%{}, %{}) -> (%r:{})\ncf.ReturnOp (%r) -> ()\n}}\n",
                      outside - 1, below(outside), kType);
  return text;
}

/// Names some ops that no pattern folds, the same ones for the same seed.
void mark_some(Module& module, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Rewriter rewriter(module);
  for (Op* op : test::ops_of(module.body())) {
    const bool is_folded = op->has(Trait::kInvolution | Trait::kIdempotent | Trait::kSameBytes);
    if (engine() % 4 == 0 && can_mark(*op) && !is_folded) {
      rewriter.set_path(*op, module.context().intern(kMark));
    }
  }
}

}  // namespace

TEST_SUITE("greedy property") {
  TEST_CASE("the result is that of a driver that visits everything again after each rewrite") {
    std::uint64_t rewrites = 0, confirmed = 0, runs = 0;
    for (const std::uint64_t seed : test::seeds_of(400)) {
      CAPTURE(seed);
      const std::string text =
          seed % 2 == 0 ? redundant_module(seed)
                        : test::generate_module({.seed = seed,
                                                 .graphs = static_cast<int>(seed % 3),
                                                 .ops = 10 + static_cast<int>(seed % 20)});
      Reading greedy(text), naive(text);
      mark_some(greedy.module(), seed);
      mark_some(naive.module(), seed);
      std::mt19937_64 engine(seed);
      const FrozenPatterns patterns(random_patterns(engine, simplifications(greedy.context)));
      Diagnostics diagnostics;
      const GreedyReport report =
          rewrite_greedily(greedy.module(), greedy.module().body(), patterns, {}, diagnostics);
      REQUIRE(test::lines_of(diagnostics, greedy.context) == Lines{});
      NaiveDriver(naive.module(), naive.module().body(), patterns).apply();
      const test::Isomorphism same(greedy.module(), naive.module());
      CHECK(same.difference() == "");
      settle_ports(greedy.module());
      if (seed % 2 != 0) {
        CHECK(verify(greedy.module(), diagnostics));
        CHECK(test::lines_of(diagnostics, greedy.context) == Lines{});
      }
      // A second run changes nothing.
      const GreedyReport again =
          rewrite_greedily(greedy.module(), greedy.module().body(), patterns, {}, diagnostics);
      CHECK_FALSE(again.has_changed);
      for (const std::uint64_t count : report.applied) rewrites += count;
      confirmed += report.sweeps <= 2;
      ++runs;
    }
    CHECK(rewrites > 3 * runs);
    // These patterns look at neighbours only, so events lead to the fixed point, and a second sweep
    // confirms it.
    CHECK(confirmed == runs);
  }
}

}  // namespace greedy_property_test

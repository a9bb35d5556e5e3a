// Speed of the greedy driver: ops a second over a graph of which one op in a hundred is rewritten,
// by patterns in C++ and by patterns as text; patterns a second that are read.
//
//   rewrite_bench [--benchmark_...]
//
// The argument of a figure is the number of ops. bench/README.md says how to run it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <functional>

#include "mir/dialects.hpp"
#include "mir/pass.hpp"
#include "mir/rewrite_patterns.hpp"

namespace {

using namespace mir;

constexpr int kRare = 100, kPatterns = 50;

/// A chain of ops, every hundredth of which is an exponential.
std::string chain(std::int64_t ops) {
  constexpr const char* kType = "tensor<[2], Float32, CPU>";
  std::string text = fmt::format("@main [mir_version:1] (%0:{0}) -> (%{1}:{0}) {{\n", kType, ops);
  for (std::int64_t i = 0; i < ops; ++i) {
    text += fmt::format("    linalg.CPU.{}(%{}:{}) -> (%{}:{})\n",
                        i % kRare == 0 ? "ExpOp" : "SinOp", i, kType, i + 1, kType);
  }
  return text + fmt::format("    cf.ReturnOp (%{}:{}) -> ()\n}}\n", ops, kType);
}

/// Patterns that look at each exponential; the last of them replaces it by a logarithm.
PatternSet patterns() {
  PatternSet set;
  for (int i = 0; i < kPatterns; ++i) {
    const bool is_last = i + 1 == kPatterns;
    set.add({.name = fmt::format("p{}", i),
             .roots = {.names = {"linalg.ExpOp"}},
             .makes = {"linalg.LogOp"},
             .match =
                 [is_last](Op& op) {
                   return is_last || op.result()->use_count() == 0
                              ? PatternMatch::of({&op})
                              : PatternMatch::failed("it has users", op);
                 },
             .rewrite =
                 [](Rewriter& rewriter, const PatternMatch& match) {
                   Op& op = match.root();
                   Value* operand = op.operand(0);
                   const Type* type = op.result()->type();
                   Op* made = rewriter.create_detached(
                       {.name = rewriter.context().op_name(OpId::kLinalgLog, op.device()),
                        .operands = {&operand, 1},
                        .result_types = {&type, 1}});
                   rewriter.replace(op, *made);
                 }});
  }
  return set;
}

/// A chain of ops of six kinds, every hundredth of which is a negation of a negation.
std::string chain_of_kinds(std::int64_t ops) {
  constexpr const char* kType = "tensor<[2], Float32, CPU>";
  constexpr std::string_view kKinds[] = {"ExpOp", "SinOp", "CosOp", "SigmoidOp", "ReLUOp"};
  std::string text = fmt::format("@main [mir_version:1] (%0:{0}) -> (%{1}:{0}) {{\n", kType, ops);
  for (std::int64_t i = 0; i < ops; ++i) {
    const std::string_view kind =
        i % kRare < 2 ? "NegOp" : kKinds[static_cast<std::size_t>(i * 7 / 3) % std::size(kKinds)];
    text += fmt::format("    linalg.CPU.{}(%{}:{}) -> (%{}:{})\n", kind, i, kType, i + 1, kType);
  }
  return text + fmt::format("    cf.ReturnOp (%{}:{}) -> ()\n}}\n", ops, kType);
}

/// Patterns as text. Each op of the chain is the root of some, and few of them match: no two
/// neighbours in the chain are of the kinds that they want.
std::string pattern_texts(int count) {
  constexpr std::string_view kRoots[] = {"ExpOp", "SinOp", "CosOp", "SigmoidOp", "ReLUOp"};
  constexpr std::string_view kBefore[] = {"LogOp", "AbsOp", "QuickGELUOp", "SiLUOp", "GELUOp"};
  std::string text = "@patterns [mir_version:1] () -> () {\n";
  const auto add = [&](int number, std::string_view first, std::string_view second) {
    text += fmt::format(
        "    pattern.RewriteOp @p{} [claim:value] {{\n        (%x) -> (%z) {{\n"
        "            linalg.D.{}(%x) -> (%y)\n            linalg.D.{}(%y) -> (%z)\n"
        "            cf.ReturnOp (%z) -> ()\n        }}\n        (%x) -> (%x) {{\n"
        "            cf.ReturnOp (%x) -> ()\n        }}\n    }}\n",
        number, first, second);
  };
  add(0, "NegOp", "NegOp");
  for (int i = 1; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    add(i, kBefore[at / std::size(kRoots) % std::size(kBefore)], kRoots[at % std::size(kRoots)]);
  }
  return text + "}\n";
}

/// Runs `pipeline` repeatedly on modules read from `text`.
void run(benchmark::State& state, const std::string& text, std::string_view pipeline_text,
         const std::function<void(PassRegistry&, IRContext&, Diagnostics&)>& add_passes) {
  for (auto _ : state) {
    state.PauseTiming();
    IRContext context;
    register_builtin_dialects(context);
    Diagnostics diagnostics;
    Module& module =
        *read_modules(*context.sources().add("chain.mir", text), context, diagnostics).front();
    PassRegistry registry;
    add_passes(registry, context, diagnostics);
    const auto pipeline =
        registry.read_pipeline(SourceFile("-p", std::string(pipeline_text), 1), diagnostics);
    state.ResumeTiming();
    if (!pipeline || !run_pipeline(module, *pipeline, {}, diagnostics)) {
      state.SkipWithError("the run failed");
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void rewrite(benchmark::State& state) {
  run(state, chain(state.range(0)), "rewrite",
      [](PassRegistry& registry, IRContext&, Diagnostics&) {
        registry.add(
            pattern_pass({.name = "rewrite",
                          .summary = "rewrites",
                          .patterns = [](IRContext&, const PassOptions&) { return patterns(); }}));
      });
}
BENCHMARK(rewrite)->Arg(25'000)->Arg(50'000)->Arg(100'000)->Arg(200'000)->Unit(
    benchmark::kMillisecond);

void rewrite_by_text(benchmark::State& state) {
  const std::string texts = pattern_texts(kPatterns);
  run(state, chain_of_kinds(state.range(0)), "patterns",
      [&](PassRegistry& registry, IRContext& context, Diagnostics& diagnostics) {
        const SourceFile* file = context.sources().add("patterns.mir", texts);
        if (!register_patterns(registry, context, *file, diagnostics)) std::abort();
      });
}
BENCHMARK(rewrite_by_text)
    ->Arg(25'000)
    ->Arg(50'000)
    ->Arg(100'000)
    ->Arg(200'000)
    ->Unit(benchmark::kMillisecond);

/// Reads patterns and registers their pass; the argument is their number.
void load_patterns(benchmark::State& state) {
  const std::string texts = pattern_texts(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    IRContext context;
    register_builtin_dialects(context);
    Diagnostics diagnostics;
    PassRegistry registry;
    const SourceFile* file = context.sources().add("patterns.mir", texts);
    if (!register_patterns(registry, context, *file, diagnostics)) {
      state.SkipWithError("the patterns are refused");
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(load_patterns)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

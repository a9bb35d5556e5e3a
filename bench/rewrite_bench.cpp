// Speed of the greedy driver: ops a second over a graph of which one op in a hundred is rewritten.
//
//   rewrite_bench [--benchmark_...]
//
// The argument of a figure is the number of ops. bench/README.md says how to run it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

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

void rewrite(benchmark::State& state) {
  const std::string text = chain(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    IRContext context;
    register_builtin_dialects(context);
    Diagnostics diagnostics;
    Module& module =
        *read_modules(*context.sources().add("chain.mir", text), context, diagnostics).front();
    PassRegistry registry;
    registry.add(pattern_pass({.name = "rewrite", .summary = "rewrites"},
                              [](IRContext&, const PassOptions&) { return patterns(); }));
    const auto pipeline = registry.read_pipeline(SourceFile("-p", "rewrite", 1), diagnostics);
    state.ResumeTiming();
    if (!run_pipeline(module, *pipeline, {}, diagnostics)) state.SkipWithError("the run failed");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(rewrite)->Arg(25'000)->Arg(50'000)->Arg(100'000)->Arg(200'000)->Unit(
    benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

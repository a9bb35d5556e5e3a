// The problems that tests of fast kernels check, timed: awkward extents of every kernel.
//
//   problem_bench [--benchmark_...]
//
// `FAMILY/PROBLEM/threads:N`; items are results. What a problem computes: its file in
// tests/unit/kernels. All are made at the start, references included, which takes seconds.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <span>

#include "fast_problem.hpp"
#include "kernels/fast/large_pages.hpp"

namespace {

using namespace mir::fast;
using benchmark::State;
using test::Problem;

void run(State& state, const Problem& problem, unsigned threads) {
  Context context(threads);
  LargePages memory(std::max(problem.out_size * sizeof(float), std::size_t{1}));
  const std::span<float> out(reinterpret_cast<float*>(memory.data()), problem.out_size);
  std::ranges::fill(out, 0.0F);
  for (auto _ : state) {
    if (!problem.before.empty()) {
      state.PauseTiming();
      std::ranges::copy(problem.before, out.begin());
      state.ResumeTiming();
    }
    problem.run(out.data(), context);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(problem.places.size()));
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  std::deque<test::Problems> made;
  for (const test::ProblemFamily& family : test::kProblemFamilies) {
    for (const Problem& problem : made.emplace_back(family.problems())) {
      for (const unsigned threads : {1U, 2U}) {
        const std::string name =
            fmt::format("{}/{}/threads:{}", family.name, problem.name, threads);
        auto* const registered = benchmark::RegisterBenchmark(
            name.c_str(), [&problem, threads](State& state) { run(state, problem, threads); });
        registered->Unit(benchmark::kMicrosecond);
        if (threads > 1) registered->UseRealTime();
      }
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

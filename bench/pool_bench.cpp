// The pool of the fast kernels compared with oneTBB: what a loop costs, by its tasks.
//
//   pool_bench [--benchmark_...]
//
// `loop/POOL/THREADS/TASKS/WORK/PAUSE`: time of one loop of TASKS tasks of about WORK ns each with
// PAUSE ns of the calling thread's own work before it. `ideal`: the ns it would take if a loop cost
// nothing.
#include <benchmark/benchmark.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "kernels/fast/thread_pool.hpp"

namespace {

using Clock = std::chrono::steady_clock;

/// Arithmetic that nothing shortens.
double spin(std::int64_t rounds) {
  double x = 1;
  for (std::int64_t i = 0; i < rounds; ++i) {
    x = x * 0.999 + 0.001;
    benchmark::DoNotOptimize(x);
  }
  return x;
}

/// Nanoseconds of one round of spin: the least of several tries.
double round_time() {
  constexpr std::int64_t kRounds = 100000;
  double least = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto begin = Clock::now();
    spin(kRounds);
    least = std::min(least, std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  return least / kRounds;
}

struct Loop {
  unsigned threads;
  std::int64_t tasks;
  std::int64_t work;   ///< rounds of a task
  std::int64_t pause;  ///< rounds before the loop
};

class Own {
 public:
  explicit Own(unsigned threads) : pool_(threads) {}
  template <class Body>
  void for_each(std::int64_t count, const Body& body) {
    pool_.for_each(count, [&](std::int64_t task, unsigned) { body(task); });
  }

 private:
  mir::fast::ThreadPool pool_;
};

template <class Partitioner>
class Tbb {
 public:
  explicit Tbb(unsigned threads) : arena_(static_cast<int>(threads)) {}
  template <class Body>
  void for_each(std::int64_t count, const Body& body) {
    arena_.execute([&] {
      using Range = oneapi::tbb::blocked_range<std::int64_t>;
      oneapi::tbb::parallel_for(
          Range(0, count, 1),
          [&](const Range& range) {
            for (std::int64_t task = range.begin(); task != range.end(); ++task) body(task);
          },
          Partitioner());
    });
  }

 private:
  oneapi::tbb::task_arena arena_;
};

template <class Pool>
void run(benchmark::State& state, const Loop& loop, double ideal) {
  Pool pool(loop.threads);
  for (auto _ : state) {
    benchmark::DoNotOptimize(spin(loop.pause));
    pool.for_each(loop.tasks, [&](std::int64_t) { benchmark::DoNotOptimize(spin(loop.work)); });
  }
  state.counters["ideal"] = ideal;
}

template <class Pool>
void add(const char* name, double nanoseconds) {
  struct Times {
    std::int64_t tasks, work, pause;
  };
  // A barrier alone; a batch-1 step's small kernels; rows of a norm; blocks of a product.
  constexpr Times kTimes[] = {{2, 0, 0},      {2, 1000, 0},     {16, 1000, 0},
                              {16, 20000, 0}, {2, 1000, 20000}, {2, 20000, 200000}};
  for (const unsigned threads : {1U, 2U}) {
    for (const Times& times : kTimes) {
      const auto rounds = [&](std::int64_t ns) {
        return static_cast<std::int64_t>(static_cast<double>(ns) / nanoseconds);
      };
      const Loop loop{threads, times.tasks, rounds(times.work), rounds(times.pause)};
      const double ideal = static_cast<double>(times.pause) +
                           static_cast<double>(times.work * times.tasks) / threads;
      const std::string label = std::string("loop/") + name + "/" + std::to_string(threads) + "/" +
                                std::to_string(times.tasks) + "/" + std::to_string(times.work) +
                                "/" + std::to_string(times.pause);
      benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) {
        run<Pool>(state, loop, ideal);
      })->UseRealTime();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const double nanoseconds = round_time();
  add<Own>("own", nanoseconds);
  add<Tbb<oneapi::tbb::static_partitioner>>("tbb_static", nanoseconds);
  add<Tbb<oneapi::tbb::auto_partitioner>>("tbb_auto", nanoseconds);
  benchmark::RunSpecifiedBenchmarks();
}

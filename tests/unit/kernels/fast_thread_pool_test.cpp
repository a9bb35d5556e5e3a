#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "kernels/fast/context.hpp"

namespace mir::fast {
namespace {

/// How often each of `count` tasks was called. The vector itself is not atomic: the thread
/// sanitizer sees a task that two threads run, or a loop that returns before its tasks.
std::vector<int> calls_of_loop(ThreadPool& pool, std::int64_t count) {
  std::vector<int> calls(static_cast<std::size_t>(count));
  pool.for_each(count, [&](std::int64_t task, unsigned thread) {
    if (thread < pool.threads()) ++calls[static_cast<std::size_t>(task)];
  });
  return calls;
}

TEST_SUITE_BEGIN("fast kernels");

TEST_CASE("a loop calls every task once, with more threads than processors too") {
  for (const unsigned threads : {1U, 2U, 3U, 8U, 4 * std::thread::hardware_concurrency() + 1}) {
    ThreadPool pool(threads);
    for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
      CHECK(calls_of_loop(pool, count) == std::vector<int>(static_cast<std::size_t>(count), 1));
    }
  }
}

TEST_CASE("threads that are done take what others have not begun") {
  ThreadPool pool(3);
  for (const std::int64_t slow : {0, 1, 98, 99}) {
    std::atomic<int> others = 0;
    int at_end = 0;
    pool.for_each(100, [&](std::int64_t task, unsigned) {
      if (task != slow) {
        ++others;
        return;
      }
      // Ends when all other tasks have been called, those that this thread began with too.
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (others < 99 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
      at_end = others;
    });
    CHECK(at_end == 99);
  }
}

TEST_CASE("no two calls hold one thread number at a time") {
  ThreadPool pool(8);
  std::vector<int> own(pool.threads());  // not atomic on purpose
  std::vector<std::atomic<bool>> held(pool.threads());
  std::atomic<int> clashes = 0;
  pool.for_each(2000, [&](std::int64_t, unsigned thread) {
    if (held[thread].exchange(true)) ++clashes;
    ++own[thread];
    held[thread] = false;
  });
  CHECK(clashes == 0);
  int sum = 0;
  for (const int calls : own) sum += calls;
  CHECK(sum == 2000);
}

TEST_CASE("a loop inside a task runs in that task's thread and is complete when it returns") {
  ThreadPool pool(4);
  std::vector<std::int64_t> sums(20);
  std::atomic<int> strays = 0;
  pool.for_each(20, [&](std::int64_t outer, unsigned thread) {
    std::int64_t sum = 0;
    pool.for_each(10, [&](std::int64_t inner, unsigned inside) {
      if (inside != thread) ++strays;
      for (const std::int64_t count : {1, 2}) {
        pool.for_each(count, [&](std::int64_t, unsigned innermost) {
          if (innermost != thread) ++strays;
        });
      }
      sum += inner;
    });
    sums[static_cast<std::size_t>(outer)] = sum;
  });
  pool.for_each(1, [&](std::int64_t, unsigned) {
    pool.for_each(50, [&](std::int64_t, unsigned inside) {
      if (inside != 0) ++strays;
    });
  });
  CHECK(strays == 0);
  CHECK(sums == std::vector<std::int64_t>(20, 45));
}

TEST_CASE("a loop of another pool inside a task is run by that pool") {
  ThreadPool outer(2);
  std::atomic<int> calls = 0;
  outer.for_each(2, [&](std::int64_t, unsigned) {
    ThreadPool inner(3);
    inner.for_each(50, [&](std::int64_t, unsigned) { ++calls; });
    outer.for_each(1, [&](std::int64_t, unsigned) { ++calls; });
  });
  CHECK(calls == 102);
}

TEST_CASE("many short loops one after the other see each other's results") {
  ThreadPool pool(3);
  std::vector<std::int64_t> values(64);
  for (int round = 0; round < 500; ++round) {
    pool.for_each(64,
                  [&](std::int64_t task, unsigned) { ++values[static_cast<std::size_t>(task)]; });
  }
  CHECK(values == std::vector<std::int64_t>(64, 500));
}

TEST_CASE("pools end while idle, before their first loop and after sleeping") {
  for (int round = 0; round < 20; ++round) ThreadPool unused(3);
  ThreadPool pool(3);
  CHECK(calls_of_loop(pool, 10) == std::vector<int>(10, 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(calls_of_loop(pool, 10) == std::vector<int>(10, 1));
}

TEST_CASE("the number of threads is clamped") {
  CHECK(ThreadPool(0).threads() == 1);
  CHECK(ThreadPool(100000).threads() <= ThreadPool::kMaxThreads);
}

TEST_CASE("scratch memory is aligned, as large as asked for, and kept") {
  Context context(1);
  const auto first = context.scratch(1000);
  CHECK(first.size() == 1000);
  CHECK(reinterpret_cast<std::uintptr_t>(first.data()) % 64 == 0);
  first[999] = 1;
  CHECK(context.scratch(10).data() == first.data());
  const auto large = context.scratch(3 << 20);
  large[large.size() - 1] = 1;
  CHECK(reinterpret_cast<std::uintptr_t>(large.data()) % 64 == 0);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::fast

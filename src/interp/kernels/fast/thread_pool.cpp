#include "mir/kernels/fast/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace mir::fast {

namespace {

/// Rounds of waiting before a thread sleeps: some 50 us, more than lies between two loops of a run.
constexpr int kSpins = 4000;

void pause_once() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The pool whose task this thread runs and the thread's number there: loops inside run at once.
struct Place {
  const void* pool = nullptr;
  unsigned thread = 0;
};
thread_local Place tls_place;

/// Waits until `value` is no longer `old`: actively first, unless more threads run than processors.
template <class T>
void wait_while_equal(const std::atomic<T>& value, T old, bool may_spin) {
  for (int i = 0; may_spin && i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause_once();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

/// A loop is announced by a new `epoch`: a number that only grows, and how many workers take part,
/// no more than there are tasks. Tasks are handed out by a counter; each worker that takes part
/// reports when it finds none left, and the loop ends with the last report. The others look at
/// nothing but the epoch.
struct ThreadPool::Shared {
  static constexpr std::uint64_t kParts = 0x10000;  ///< above kMaxThreads

  alignas(64) std::atomic<std::uint64_t> epoch{0};
  alignas(64) std::atomic<std::int64_t> next{0};
  alignas(64) std::atomic<int> running{0};
  std::int64_t count = 0;
  Call call = nullptr;
  void* context = nullptr;
  bool stops = false;
  bool may_spin = true;
  std::vector<std::thread> workers;

  void take_tasks(unsigned thread) {
    const Place outer = std::exchange(tls_place, {this, thread});
    for (;;) {
      const std::int64_t task = next.fetch_add(1, std::memory_order_relaxed);
      if (task >= count) break;
      call(context, task, thread);
    }
    tls_place = outer;
  }

  void serve(unsigned thread) {
    for (std::uint64_t seen = 0;;) {
      wait_while_equal(epoch, seen, may_spin);
      seen = epoch.load(std::memory_order_acquire);
      if (thread > seen % kParts) continue;
      if (stops) return;
      take_tasks(thread);
      if (running.fetch_sub(1, std::memory_order_acq_rel) == 1) running.notify_one();
    }
  }

  /// Lets workers 1 .. `parts` begin.
  void announce(std::size_t parts) {
    running.store(static_cast<int>(parts), std::memory_order_relaxed);
    const std::uint64_t old = epoch.load(std::memory_order_relaxed);
    epoch.store((old / kParts + 1) * kParts + parts, std::memory_order_release);
    epoch.notify_all();
  }
};

ThreadPool::ThreadPool(unsigned threads) : shared_(std::make_unique<Shared>()) {
  threads = std::clamp(threads, 1U, kMaxThreads);
  shared_->may_spin = threads <= std::max(1U, std::thread::hardware_concurrency());
  shared_->workers.reserve(threads - 1);
  for (unsigned thread = 1; thread < threads; ++thread) {
    try {
      shared_->workers.emplace_back([shared = shared_.get(), thread] { shared->serve(thread); });
    } catch (const std::system_error&) {
      break;
    }
  }
  threads_ = static_cast<unsigned>(shared_->workers.size()) + 1;
}

ThreadPool::~ThreadPool() {
  shared_->stops = true;
  shared_->announce(shared_->workers.size());
  for (std::thread& worker : shared_->workers) worker.join();
}

void ThreadPool::run(std::int64_t count, Call call, void* context) {
  Shared& shared = *shared_;
  if (tls_place.pool == &shared) {
    for (std::int64_t task = 0; task < count; ++task) call(context, task, tls_place.thread);
    return;
  }
  if (count == 0) return;
  if (count == 1) {
    const Place outer = std::exchange(tls_place, {&shared, 0});
    call(context, 0, 0);
    tls_place = outer;
    return;
  }
  shared.count = count;
  shared.call = call;
  shared.context = context;
  shared.next.store(0, std::memory_order_relaxed);
  shared.announce(std::min(static_cast<std::size_t>(count - 1), shared.workers.size()));
  shared.take_tasks(0);
  for (;;) {
    const int left = shared.running.load(std::memory_order_acquire);
    if (left == 0) return;
    wait_while_equal(shared.running, left, shared.may_spin);
  }
}

}  // namespace mir::fast

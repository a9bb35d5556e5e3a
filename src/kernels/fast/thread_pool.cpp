// Worker threads that take tasks of one loop at a time and spin briefly before they sleep.
#include "kernels/fast/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "kernels/fast/task_ranges.hpp"
#include "support/platform/threads.hpp"

namespace mir::fast {

namespace {

/// Rounds of waiting before a thread sleeps: some 50 us, more than lies between two loops of a run.
constexpr int kSpins = 2000;

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

/// The current loop in one word: its number, whether it takes workers, and how many it has. A
/// worker that is late finds the loop closed and leaves it alone, so a loop never waits for a
/// thread that the system does not run.
struct ThreadPool::Shared {
  static constexpr std::uint64_t kOpen = std::uint64_t{1} << 31;
  static constexpr std::uint64_t kWorkers = kOpen - 1;
  static constexpr std::uint64_t kNumber = std::uint64_t{1} << 32;

  alignas(64) std::atomic<std::uint64_t> loop{0};
  alignas(64) std::atomic<int> announced{0};  // what workers without a loop wait on
  std::atomic<bool> stops{false};
  TaskRanges tasks;
  Call call = nullptr;
  void* context = nullptr;
  bool may_spin = true;
  std::vector<Thread> workers;

  void take_tasks(unsigned thread) {
    const Place outer = std::exchange(tls_place, {this, thread});
    for (;;) {
      const TaskSpan taken = tasks.take(thread);
      if (taken.is_empty()) break;
      for (std::int64_t task = taken.first; task < taken.end; ++task) call(context, task, thread);
    }
    tls_place = outer;
  }

  bool join() {
    std::uint64_t state = loop.load(std::memory_order_relaxed);
    while ((state & kOpen) != 0) {
      if (loop.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  void leave() {
    const std::uint64_t before = loop.fetch_sub(1, std::memory_order_release);
    if ((before & (kOpen | kWorkers)) == 1) loop.notify_one();
  }

  void serve(unsigned thread) {
    for (int seen = 0; !stops.load(std::memory_order_acquire);) {
      if (join()) {
        take_tasks(thread);
        leave();
      }
      wait_while_equal(announced, seen, may_spin);
      seen = announced.load(std::memory_order_acquire);
    }
  }

  void announce() {
    announced.fetch_add(1, std::memory_order_release);
    announced.notify_all();
  }

  /// Opens the loop that is described above for workers.
  void open(std::int64_t count) {
    tasks.start(count);
    const std::uint64_t number = loop.load(std::memory_order_relaxed) & ~(kNumber - 1);
    loop.store(number + kNumber + kOpen, std::memory_order_release);
    announce();
  }

  /// Takes no more workers and waits for those it has.
  void close() {
    std::uint64_t state = loop.fetch_and(~kOpen, std::memory_order_acquire) & ~kOpen;
    while ((state & kWorkers) != 0) {
      wait_while_equal(loop, state, may_spin);
      state = loop.load(std::memory_order_acquire);
    }
  }
};

ThreadPool::ThreadPool(unsigned threads) : shared_(std::make_unique<Shared>()) {
  threads = std::clamp(threads, 1U, kMaxThreads);
  shared_->may_spin = threads <= processor_count();
  shared_->workers.reserve(threads - 1);
  for (unsigned thread = 1; thread < threads; ++thread) {
    auto started = Thread::start([shared = shared_.get(), thread] { shared->serve(thread); });
    if (!started) break;
    shared_->workers.push_back(*std::move(started));
  }
  threads_ = static_cast<unsigned>(shared_->workers.size()) + 1;
  shared_->tasks.set_threads(threads_);
}

ThreadPool::~ThreadPool() {
  shared_->stops.store(true, std::memory_order_release);
  shared_->announce();
  shared_->workers.clear();
}

void ThreadPool::run(std::int64_t count, Call call, void* context) {
  Shared& shared = *shared_;
  if (tls_place.pool == &shared) {
    for (std::int64_t task = 0; task < count; ++task) call(context, task, tls_place.thread);
    return;
  }
  if (count <= 1) {
    // Waking workers would take longer than most tasks.
    const Place outer = std::exchange(tls_place, {&shared, 0});
    if (count == 1) call(context, 0, 0);
    tls_place = outer;
    return;
  }
  shared.call = call;
  shared.context = context;
  shared.open(count);
  shared.take_tasks(0);
  shared.close();
}

}  // namespace mir::fast

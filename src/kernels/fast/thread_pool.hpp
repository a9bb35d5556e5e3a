// Threads that fast kernels share.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace mir::fast {

/// A fixed number of threads, the calling one among them, that take tasks of one loop at a time.
///
/// The kernel decides how a loop is cut into tasks. The summands and their order follow from shapes
/// alone, so results never depend on the number of threads. Workers wait actively for a moment
/// between loops and then sleep, so an idle pool costs nothing.
class ThreadPool {
 public:
  /// Clamped to [1, kMaxThreads]. Threads that the system refuses are done without.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  static constexpr unsigned kMaxThreads = 256;

  unsigned threads() const { return threads_; }

  /// Calls body(task, thread) once for each task in [0, count), `thread` being below threads() and
  /// held by one call at a time: scratch memory can be indexed by it. Returns when all calls have
  /// returned. A loop inside a task of this pool runs in the task's thread. `body` must not throw.
  /// One thread at a time may run loops of a pool.
  template <class Body>
  void for_each(std::int64_t count, Body&& body) {
    if (threads_ == 1) {
      for (std::int64_t task = 0; task < count; ++task) body(task, 0U);
      return;
    }
    using Plain = std::remove_reference_t<Body>;
    run(
        count,
        [](void* context, std::int64_t task, unsigned thread) {
          (*static_cast<Plain*>(context))(task, thread);
        },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  struct Shared;
  using Call = void (*)(void* context, std::int64_t task, unsigned thread);

  void run(std::int64_t count, Call call, void* context);

  unsigned threads_ = 1;
  std::unique_ptr<Shared> shared_;
};

}  // namespace mir::fast

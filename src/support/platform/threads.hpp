// Threads, where the system has them.
#pragma once

#include <functional>
#include <memory>
#include <optional>

namespace mir {

/// The number of processors, at least 1.
unsigned processor_count();

/// A running thread. The destructor waits for its end.
class Thread {
 public:
  /// Returns no thread if the system refuses it or has none. The caller then does the work itself.
  static std::optional<Thread> start(std::function<void()> work);
  Thread(Thread&& other) noexcept;
  Thread& operator=(Thread&&) = delete;
  ~Thread();

 private:
  struct State;
  explicit Thread(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace mir

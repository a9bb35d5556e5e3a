// No threads: callers do all work themselves.
#include "support/platform/threads.hpp"

#include <utility>

namespace mir {

struct Thread::State {};

unsigned processor_count() {
  return 1;
}

std::optional<Thread> Thread::start(std::function<void()>) {
  return std::nullopt;
}

Thread::Thread(std::unique_ptr<State> state) : state_(std::move(state)) {}
Thread::Thread(Thread&& other) noexcept = default;
Thread::~Thread() = default;

}  // namespace mir

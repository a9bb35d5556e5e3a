// Starts threads of the system.
#include "support/platform/threads.hpp"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

namespace mir {

struct Thread::State {
  std::jthread thread;
};

unsigned processor_count() {
  return std::max(1U, std::thread::hardware_concurrency());
}

std::optional<Thread> Thread::start(std::function<void()> work) {
  try {
    return Thread(std::make_unique<State>(State{std::jthread(std::move(work))}));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

Thread::Thread(std::unique_ptr<State> state) : state_(std::move(state)) {}
Thread::Thread(Thread&& other) noexcept = default;
Thread::~Thread() = default;

}  // namespace mir

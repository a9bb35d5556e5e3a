// A loop whose turns are taken by several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include "support/platform/threads.hpp"

namespace mir {

/// Calls `body(i, thread)` once for each i below `count`, in up to `threads` threads, which are
/// numbered from 0. What the first of the
/// turns throws, in their order, is thrown when all have ended. A thread that the system refuses is
/// done without.
template <class Body>
void for_each_in_threads(std::size_t count, unsigned threads, const Body& body) {
  std::vector<std::exception_ptr> thrown(count);
  std::atomic<std::size_t> next{0};
  const auto work = [&](std::size_t thread) {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        body(i, thread);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<Thread> others;
    while (others.size() + 1 < std::min<std::size_t>(threads, count)) {
      auto started = Thread::start([&work, number = others.size() + 1] { work(number); });
      if (!started) break;
      others.push_back(*std::move(started));
    }
    work(0);
  }
  for (const std::exception_ptr& each : thrown) {
    if (each != nullptr) std::rethrow_exception(each);
  }
}

}  // namespace mir

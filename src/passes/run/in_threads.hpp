// A loop whose turns are taken by several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

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
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < std::min<std::size_t>(threads, count))
        others.emplace_back(work, others.size() + 1);
    } catch (const std::system_error&) {
    }
    work(0);
  }
  for (const std::exception_ptr& each : thrown) {
    if (each != nullptr) std::rethrow_exception(each);
  }
}

}  // namespace mir

// Runs test files in parallel and reports them in order.
#include "run_files.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "support/platform/threads.hpp"

namespace mir::tools {

bool run_case_files(std::span<const std::string> paths, const CheckSettings& settings,
                    unsigned jobs, const std::function<void(const FileResult&)>& take) {
  std::vector<std::optional<FileResult>> results(paths.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable arrived;
  const auto work = [&] {
    for (std::size_t at = next++; at < paths.size(); at = next++) {
      FileResult result = run_case_file(paths[at], settings);
      const std::scoped_lock lock(mutex);
      results[at] = std::move(result);
      arrived.notify_one();
    }
  };
  std::vector<Thread> threads;
  const auto count = std::min<std::size_t>(std::max(jobs, 1u), paths.size());
  while (threads.size() < count) {
    auto started = Thread::start(work);
    if (!started) break;
    threads.push_back(*std::move(started));
  }
  if (threads.empty()) work();
  for (std::optional<FileResult>& result : results) {
    std::unique_lock lock(mutex);
    arrived.wait(lock, [&] { return result.has_value(); });
    lock.unlock();
    const bool interrupted = result->interrupted;
    if (!interrupted) take(*result);
    result.reset();
    if (!interrupted) continue;
    next = paths.size();
    return false;
  }
  return true;
}

}  // namespace mir::tools

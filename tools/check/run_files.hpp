// Runs test files on several threads.
#pragma once

#include <csignal>
#include <functional>
#include <span>
#include <string>

#include "run_cases.hpp"

namespace mir::tools {

/// While it lives, interrupts (SIGHUP, SIGINT, SIGTERM) wait in this thread and in those that it
/// starts. They come when it goes, after everything was put in order.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();
  /// Readable while an interrupt waits; -1 where there is no such thing.
  int descriptor() const { return descriptor_; }

 private:
  sigset_t before_;
  int descriptor_;
};

/// Runs the files, up to `jobs` at a time, and delivers their results in the order of the files.
/// False when an interrupt stopped it.
bool run_case_files(std::span<const std::string> paths, const CheckSettings& settings,
                    unsigned jobs, const std::function<void(const FileResult&)>& take);

}  // namespace mir::tools

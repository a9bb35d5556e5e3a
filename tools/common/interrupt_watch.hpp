// Interrupts as something to wait for.
#pragma once

#include <csignal>

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

}  // namespace mir::tools

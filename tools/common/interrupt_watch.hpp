// Interrupts as something to wait for.
#pragma once

#include <csignal>

namespace mir::tools {

/// While it lives, interrupts (SIGHUP, SIGINT, SIGTERM) are held back in this thread and in those
/// that it starts. They are delivered when it is destroyed, after all work was cleaned up.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();
  /// A descriptor that is readable while an interrupt is pending; -1 if the system cannot provide
  /// one.
  int descriptor() const { return descriptor_; }

 private:
  sigset_t before_;
  int descriptor_;
};

}  // namespace mir::tools

// Interrupts as something to wait for.
#pragma once

#include <memory>

namespace mir {

/// While it lives, interrupts (SIGHUP, SIGINT, SIGTERM) are held back in this thread and in those
/// that it starts. They are delivered when it is destroyed, after all work was cleaned up. Without
/// signals it does nothing.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();
  /// A descriptor that is readable while an interrupt is pending; -1 if the system cannot provide
  /// one.
  int descriptor() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True if an interrupt is pending at this descriptor of an InterruptWatch.
bool is_interrupted(int descriptor);

/// Ends the program without a message when it writes to a pipe that nobody reads.
void end_at_closed_pipes();

}  // namespace mir

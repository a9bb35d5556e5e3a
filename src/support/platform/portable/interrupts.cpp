// No signals: interrupts end the program as the system does it.
#include "support/platform/interrupts.hpp"

namespace mir {

struct InterruptWatch::State {};

InterruptWatch::InterruptWatch() = default;
InterruptWatch::~InterruptWatch() = default;

int InterruptWatch::descriptor() const {
  return -1;
}

bool is_interrupted(int) {
  return false;
}

void end_at_closed_pipes() {}

}  // namespace mir

// Blocks SIGHUP, SIGINT and SIGTERM, and makes a descriptor readable when one is pending.
#include "support/platform/interrupts.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace mir {

struct InterruptWatch::State {
  sigset_t before;
  int descriptor;
};

InterruptWatch::InterruptWatch() : state_(std::make_unique<State>()) {
  sigset_t interrupts;
  ::sigemptyset(&interrupts);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) ::sigaddset(&interrupts, signal);
  ::pthread_sigmask(SIG_BLOCK, &interrupts, &state_->before);
  state_->descriptor = ::signalfd(-1, &interrupts, SFD_CLOEXEC | SFD_NONBLOCK);
}

InterruptWatch::~InterruptWatch() {
  if (state_->descriptor >= 0) ::close(state_->descriptor);
  ::pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
}

int InterruptWatch::descriptor() const {
  return state_->descriptor;
}

bool is_interrupted(int descriptor) {
  pollfd watched{descriptor, POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

void end_at_closed_pipes() {
  std::signal(SIGPIPE, SIG_DFL);
}

}  // namespace mir

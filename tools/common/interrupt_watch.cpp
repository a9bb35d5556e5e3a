// Blocks SIGHUP, SIGINT and SIGTERM, and makes a descriptor readable when one is pending.
#include "interrupt_watch.hpp"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <initializer_list>

namespace mir::tools {

InterruptWatch::InterruptWatch() {
  sigset_t interrupts;
  ::sigemptyset(&interrupts);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) ::sigaddset(&interrupts, signal);
  ::pthread_sigmask(SIG_BLOCK, &interrupts, &before_);
  descriptor_ = ::signalfd(-1, &interrupts, SFD_CLOEXEC | SFD_NONBLOCK);
}

InterruptWatch::~InterruptWatch() {
  if (descriptor_ >= 0) ::close(descriptor_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace mir::tools

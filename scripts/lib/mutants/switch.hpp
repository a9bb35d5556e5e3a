// The switch of all mutants, which is compiled before every source. The file MIR_MUTANTS_SWITCH.N,
// with N the number of the session that a test is run in, holds the number of the mutation that is
// on, four bytes, and then a byte for each mutant, which is set when a process comes to its place.
// A file, because tests clear the environment. Without one, none is on.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mir_mutants {

struct Switch {
  int active;
  unsigned char reached[4096];
};
inline Switch off{};

inline Switch* open_switch() {
  char path[1024];
  snprintf(path, sizeof(path), "%s.%d", MIR_MUTANTS_SWITCH, static_cast<int>(getsid(0)));
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return &off;
  void* bytes = mmap(nullptr, sizeof(Switch), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return bytes == MAP_FAILED ? &off : static_cast<Switch*>(bytes);
}

inline Switch* now = &off;
/// Before other objects are initialised.
__attribute__((constructor(101))) inline void read_switch() {
  now = open_switch();
}

}  // namespace mir_mutants

inline bool mir_mutant_is(int number) {
  mir_mutants::now->reached[number] = 1;
  return mir_mutants::now->active == number;
}

/// In functions that the compiler may evaluate too, which sees no mutant.
constexpr bool mir_mutant_is_at_run_time(int number) {
  return !__builtin_is_constant_evaluated() && mir_mutant_is(number);
}

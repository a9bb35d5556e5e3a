// The switch of all mutants, which is compiled before every source: MIR_MUTANT is the number of the
// mutation that is on, MIR_MUTANTS_REACHED a file with a byte for each mutant, set when a process
// comes to its place.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace mir_mutants {

inline constexpr std::size_t kCount = 4096;
inline int active = 0;
inline unsigned char nowhere[kCount];
inline unsigned char* reached = nowhere;

inline bool read_environment() {
  if (const char* number = std::getenv("MIR_MUTANT")) active = std::atoi(number);
  const char* path = std::getenv("MIR_MUTANTS_REACHED");
  const int file = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  void* bytes = mmap(nullptr, kCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (bytes != MAP_FAILED) reached = static_cast<unsigned char*>(bytes);
  return true;
}
inline const bool is_read = read_environment();

}  // namespace mir_mutants

inline bool mir_mutant_is(int number) {
  mir_mutants::reached[number] = 1;
  return mir_mutants::active == number;
}

/// In functions that the compiler may evaluate too, which sees no mutant.
constexpr bool mir_mutant_is_at_run_time(int number) {
  return !__builtin_is_constant_evaluated() && mir_mutant_is(number);
}

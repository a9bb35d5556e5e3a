#include "meter.hpp"

#include <cstdlib>
#include <new>

namespace {

/// Everything that this program did so far.
mir::test::Cost spent;

void count_words(std::size_t bytes) {
  spent.steps += bytes / sizeof(std::uint64_t);
}

}  // namespace

// The compiler calls this at every edge between blocks of the code that is compiled for counting.
// The linker puts functions named __wrap_ in the place of those of the C library.
extern "C" {
void __sanitizer_cov_trace_pc();
void __sanitizer_cov_trace_pc() {
  ++spent.steps;
}

void* __real_malloc(std::size_t bytes);
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* at, int byte, std::size_t bytes);
int __real_memcmp(const void* a, const void* b, std::size_t bytes);
void* __real_memchr(const void* at, int byte, std::size_t bytes);

void* __wrap_malloc(std::size_t bytes);
void* __wrap_malloc(std::size_t bytes) {
  spent.bytes += bytes;
  return __real_malloc(bytes);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  spent.bytes += bytes;
  return __real_aligned_alloc(alignment, bytes);
}
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  count_words(bytes);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes);
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  count_words(bytes);
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* at, int byte, std::size_t bytes);
void* __wrap_memset(void* at, int byte, std::size_t bytes) {
  count_words(bytes);
  return __real_memset(at, byte, bytes);
}
int __wrap_memcmp(const void* a, const void* b, std::size_t bytes);
int __wrap_memcmp(const void* a, const void* b, std::size_t bytes) {
  count_words(bytes);
  return __real_memcmp(a, b, bytes);
}
void* __wrap_memchr(const void* at, int byte, std::size_t bytes);
void* __wrap_memchr(const void* at, int byte, std::size_t bytes) {
  void* const found = __real_memchr(at, byte, bytes);
  const auto* const begin = static_cast<const char*>(at);
  count_words(found == nullptr ? bytes
                               : static_cast<std::size_t>(static_cast<char*>(found) - begin));
  return found;
}
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size);
}

void* operator new(std::size_t size) {
  void* const at = operator new(size, std::nothrow);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

void operator delete(void* at) noexcept {
  std::free(at);
}

void operator delete(void* at, std::size_t) noexcept {
  std::free(at);
}

namespace mir::test {

Cost cost_of(const std::function<void()>& work) {
  const Cost before = spent;
  work();
  return {spent.steps - before.steps, spent.bytes - before.bytes};
}

}  // namespace mir::test

#include "meter.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

/// Everything that this program did so far.
mir::test::Cost spent;

void count_words(std::size_t bytes) {
  spent.steps += bytes / sizeof(std::uint64_t);
}

}  // namespace

// Code that is compiled for the thread sanitizer calls these functions at every access to memory,
// at every call, and in place of every atomic access. Here they count, and nothing looks for races.
// The linker puts functions named __wrap_ in the place of those of the C library.
#define MIR_COUNTED(function)     \
  void __tsan_##function(void*);  \
  void __tsan_##function(void*) { \
    ++spent.steps;                \
  }
#define MIR_COUNTED_ACCESSES(size)  \
  MIR_COUNTED(read##size)           \
  MIR_COUNTED(write##size)          \
  MIR_COUNTED(unaligned_read##size) \
  MIR_COUNTED(unaligned_write##size)
// An operation of one operand, which returns what was there.
#define MIR_COUNTED_EXCHANGE(bits, name, builtin)                                             \
  std::uint##bits##_t __tsan_atomic##bits##_##name(std::uint##bits##_t*, std::uint##bits##_t, \
                                                   int);                                      \
  std::uint##bits##_t __tsan_atomic##bits##_##name(std::uint##bits##_t* at,                   \
                                                   std::uint##bits##_t with, int) {           \
    ++spent.steps;                                                                            \
    return builtin(at, with, __ATOMIC_SEQ_CST);                                               \
  }
#define MIR_COUNTED_ATOMICS(bits)                                                                 \
  std::uint##bits##_t __tsan_atomic##bits##_load(const std::uint##bits##_t*, int);                \
  std::uint##bits##_t __tsan_atomic##bits##_load(const std::uint##bits##_t* at, int) {            \
    ++spent.steps;                                                                                \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                               \
  void __tsan_atomic##bits##_store(std::uint##bits##_t*, std::uint##bits##_t, int);               \
  void __tsan_atomic##bits##_store(std::uint##bits##_t* at, std::uint##bits##_t value, int) {     \
    ++spent.steps;                                                                                \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                \
  }                                                                                               \
  std::uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                 \
      std::uint##bits##_t*, std::uint##bits##_t, std::uint##bits##_t, int, int);                  \
  std::uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                 \
      std::uint##bits##_t* at, std::uint##bits##_t expected, std::uint##bits##_t value, int,      \
      int) {                                                                                      \
    ++spent.steps;                                                                                \
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                              \
  }                                                                                               \
  MIR_COUNTED_EXCHANGE(bits, exchange, __atomic_exchange_n)                                       \
  MIR_COUNTED_EXCHANGE(bits, fetch_add, __atomic_fetch_add)                                       \
  MIR_COUNTED_EXCHANGE(bits, fetch_sub, __atomic_fetch_sub)                                       \
  MIR_COUNTED_EXCHANGE(bits, fetch_and, __atomic_fetch_and)                                       \
  MIR_COUNTED_EXCHANGE(bits, fetch_or, __atomic_fetch_or)

extern "C" {
MIR_COUNTED(func_entry)
MIR_COUNTED(vptr_read)
MIR_COUNTED_ACCESSES(1)
MIR_COUNTED_ACCESSES(2)
MIR_COUNTED_ACCESSES(4)
MIR_COUNTED_ACCESSES(8)
MIR_COUNTED_ACCESSES(16)
MIR_COUNTED_ATOMICS(8)
MIR_COUNTED_ATOMICS(16)
MIR_COUNTED_ATOMICS(32)
MIR_COUNTED_ATOMICS(64)

void __tsan_init();
void __tsan_init() {}
void __tsan_func_exit();
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*);
void __tsan_vptr_update(void**, void*) {
  ++spent.steps;
}
void __tsan_atomic_thread_fence(int);
void __tsan_atomic_thread_fence(int) {}

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

// Takes pages from the system, and asks it to back them with huge pages.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "support/platform/memory.hpp"

namespace mir {

void prefer_huge_pages(void* begin, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (address + bytes) / kHugePage * kHugePage;
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

std::span<std::byte> allocate_pages(std::size_t bytes) {
  void* const start =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return {};
  return {static_cast<std::byte*>(start), bytes};
}

bool pages_are_lazy() {
  return true;
}

void release_pages(std::span<std::byte> pages) {
  ::munmap(pages.data(), pages.size());
}

std::optional<std::uint64_t> machine_memory() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  if (pages < 0 || bytes < 0) return std::nullopt;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes);
}

void return_free_memory() {
#if defined(__GLIBC__)
  (void)::malloc_trim(0);
#endif
}

void return_long_objects() {
#if defined(__GLIBC__)
  constexpr int kLongBytes = 1 << 15, kKeptBytes = 1 << 15;
  ::mallopt(M_MMAP_THRESHOLD, kLongBytes);
  ::mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  ::mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace mir

// Asks the kernel by madvise() to back a memory range with huge pages.
#include "support/huge_pages.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace mir {

void prefer_huge_pages(void* begin, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (address + bytes) / kHugePage * kHugePage;
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace mir

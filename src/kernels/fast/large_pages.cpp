// Allocates memory aligned to 2 MiB and asks the system to back it with large pages.
#include "kernels/fast/large_pages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <limits>
#include <utility>

namespace mir::fast {

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

}  // namespace

LargePages::LargePages(std::size_t bytes) {
  if (bytes == 0 || bytes > std::numeric_limits<std::size_t>::max() / 2) return;
  // Blocks of less than a large page are not worth the alignment.
  const std::size_t slack = bytes >= kLargePage ? kLargePage : 0;
  void* const start =
      mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return;
  mapping_ = {static_cast<std::byte*>(start), bytes + slack};
  const std::size_t past = slack == 0 ? 0 : reinterpret_cast<std::uintptr_t>(start) % kLargePage;
  bytes_ = mapping_.subspan(past == 0 ? 0 : kLargePage - past, bytes);
#if defined(MADV_HUGEPAGE)
  // Advice: without it the memory works all the same.
  if (slack != 0) (void)madvise(bytes_.data(), bytes, MADV_HUGEPAGE);
#endif
}

LargePages::~LargePages() {
  if (!mapping_.empty()) (void)munmap(mapping_.data(), mapping_.size());
}

LargePages::LargePages(LargePages&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), mapping_(std::exchange(other.mapping_, {})) {}

LargePages& LargePages::operator=(LargePages&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(mapping_, other.mapping_);
  return *this;
}

}  // namespace mir::fast

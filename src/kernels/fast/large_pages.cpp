// Allocates memory aligned to 2 MiB and asks the system to back it with large pages.
#include "kernels/fast/large_pages.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include "support/memory_size.hpp"
#include "support/platform/memory.hpp"

namespace mir::fast {

LargePages::LargePages(std::uint64_t bytes) {
  if (bytes == 0 || bytes > std::numeric_limits<std::size_t>::max() / 2) return;
  const std::size_t wanted = memory_size(bytes);
  // Blocks of less than a large page are not worth the alignment.
  const std::size_t slack = wanted >= kHugePage ? kHugePage : 0;
  mapping_ = allocate_pages(wanted + slack);
  if (mapping_.empty()) return;
  const auto start = reinterpret_cast<std::uintptr_t>(mapping_.data());
  const std::size_t past = slack == 0 ? 0 : start % kHugePage;
  bytes_ = mapping_.subspan(past == 0 ? 0 : kHugePage - past, wanted);
  if (slack != 0) prefer_huge_pages(bytes_.data(), wanted);
}

LargePages::~LargePages() {
  if (!mapping_.empty()) release_pages(mapping_);
}

LargePages::LargePages(LargePages&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), mapping_(std::exchange(other.mapping_, {})) {}

LargePages& LargePages::operator=(LargePages&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(mapping_, other.mapping_);
  return *this;
}

}  // namespace mir::fast

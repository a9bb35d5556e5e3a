// Grows an arena by a chunk of half the memory that it has reserved so far, within bounds.
#include "support/arena.hpp"

#include <algorithm>

#include "support/platform/memory.hpp"

namespace mir {

namespace {

constexpr std::size_t kFirstChunk = std::size_t{1} << 10;  // a text may have many small modules
constexpr std::size_t kLargestChunk = std::size_t{8} << 20;

}  // namespace

void Arena::grow(std::size_t at_least) {
  const std::size_t wanted = std::clamp(reserved_ / 2, kFirstChunk, kLargestChunk);
  std::size_t size = std::max(at_least, wanted);
  const bool huge = size >= kHugePage;
  if (huge) size = (size + kHugePage - 1) / kHugePage * kHugePage;
  void* chunk = huge ? std::aligned_alloc(kHugePage, size) : std::malloc(size);
  if (chunk == nullptr) throw std::bad_alloc();
  if (huge) prefer_huge_pages(chunk, size);
  chunks_.emplace_back(static_cast<std::byte*>(chunk));
  cursor_ = reinterpret_cast<std::uintptr_t>(chunk);
  limit_ = cursor_ + size;
  reserved_ += size;
}

}  // namespace mir

// Memory by the standard library alone: no hints to the system and no figures of it.
#include "support/platform/memory.hpp"

#include <cstdlib>
#include <limits>

namespace mir {

namespace {

/// At least one aligned address is so far into a block, with the block's address before it.
constexpr std::size_t kAlignment = 64;

}  // namespace

void prefer_huge_pages(void*, std::size_t) {}

std::span<std::byte> allocate_pages(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() - kAlignment) return {};
  void* const block = std::calloc(bytes + kAlignment, 1);
  if (block == nullptr) return {};
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  auto* const first = static_cast<std::byte*>(block) + (kAlignment - address % kAlignment);
  reinterpret_cast<void**>(first)[-1] = block;
  return {first, bytes};
}

bool pages_are_lazy() {
  return false;
}

void release_pages(std::span<std::byte> pages) {
  if (pages.data() != nullptr) std::free(reinterpret_cast<void**>(pages.data())[-1]);
}

std::optional<ResidentMemory> resident_memory() {
  return std::nullopt;
}

bool restart_resident_peak() {
  return false;
}

std::optional<std::uint64_t> machine_memory() {
  return std::nullopt;
}

void return_free_memory() {}

void return_long_objects() {}

}  // namespace mir

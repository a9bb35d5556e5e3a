// Hashes of large memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/fast/thread_pool.hpp"

namespace mir {

struct ContentHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const ContentHash&, const ContentHash&) = default;
};

/// XXH3 of 128 bits over those of all parts of 4 MiB, so that threads can share the work; the same
/// with any number of them.
ContentHash content_hash(std::span<const std::byte> bytes, fast::ThreadPool& pool);

}  // namespace mir

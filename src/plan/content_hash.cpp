// Hashes large memory in parallel chunks.
#include "plan/content_hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <vector>

namespace mir {

namespace {

constexpr std::size_t kPart = std::size_t{4} << 20;

ContentHash hash_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.low = hash.low64, .high = hash.high64};
}

}  // namespace

ContentHash content_hash(std::span<const std::byte> bytes, fast::ThreadPool& pool) {
  std::vector<ContentHash> parts((bytes.size() + kPart - 1) / kPart);
  pool.for_each(static_cast<std::int64_t>(parts.size()), [&](std::int64_t part, unsigned) {
    const std::size_t at = static_cast<std::size_t>(part) * kPart;
    parts[static_cast<std::size_t>(part)] =
        hash_of(bytes.subspan(at, std::min(kPart, bytes.size() - at)));
  });
  return hash_of(std::as_bytes(std::span(parts)));
}

}  // namespace mir

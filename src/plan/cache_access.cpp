#include "plan/cache_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mir {

namespace {

/// Tokens that a cache without a limit has room for at first.
constexpr std::int64_t kFirstCapacity = 256;

/// The cache with room for `capacity` tokens; none when memory is short.
bool grow(CacheBuffers& cache, std::int64_t capacity) {
  const std::size_t element = info(cache.dtype).unit_bytes;
  for (std::size_t i = 0; i < cache.bytes.size(); ++i) {
    std::size_t bytes = element;
    const bool fits = !__builtin_mul_overflow(bytes, cache.outer, &bytes) &&
                      !__builtin_mul_overflow(bytes, capacity, &bytes) &&
                      !__builtin_mul_overflow(bytes, cache.inner[i], &bytes) &&
                      bytes <= Tensor::kMaxBytes;
    if (!fits) return false;
    fast::LargePages grown(bytes);
    if (grown.size() < bytes) return false;
    const std::size_t row = static_cast<std::size_t>(cache.inner[i]) * element;
    for (std::int64_t o = 0; o < cache.outer && cache.pending > 0; ++o) {
      std::memcpy(grown.data() + static_cast<std::size_t>(o * capacity) * row,
                  cache.bytes[i].data() + static_cast<std::size_t>(o * cache.capacity) * row,
                  static_cast<std::size_t>(cache.pending) * row);
    }
    cache.bytes[i] = std::move(grown);
  }
  cache.capacity = capacity;
  return true;
}

}  // namespace

CacheStore::CacheStore() = default;
CacheStore::~CacheStore() = default;

std::int64_t CacheStore::length(Symbol cache) const {
  const auto found = caches_.find(cache);
  return found == caches_.end() ? 0 : found->second->length;
}

void CacheStore::commit() {
  for (auto& [name, cache] : caches_) cache->length = cache->pending;
}

void CacheStore::clear() {
  for (auto& [name, cache] : caches_) cache->length = cache->pending = 0;
}

std::uint64_t CacheStore::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, cache] : caches_) {
    const auto tokens = static_cast<std::uint64_t>(cache->outer * cache->length);
    bytes += tokens * static_cast<std::uint64_t>(cache->inner[0] + cache->inner[1]) *
             info(cache->dtype).unit_bytes;
  }
  return bytes;
}

CacheAccess::CacheAccess(CacheStore& store) : store_(store) {
  for (auto& [name, cache] : store_.caches_) cache->pending = cache->length;
}

std::int64_t CacheAccess::pending(Symbol cache) const {
  const auto found = store_.caches_.find(cache);
  return found == store_.caches_.end() ? 0 : found->second->pending;
}

Result<CacheAccess::Tokens> CacheAccess::append(const Request& request) {
  auto& held = store_.caches_[request.cache];
  if (held == nullptr) held = std::make_unique<CacheBuffers>();
  CacheBuffers& cache = *held;
  if (cache.pending == 0) {
    const bool fits = cache.dtype == request.dtype && cache.outer == request.outer &&
                      cache.inner == request.inner;
    if (!fits) cache = {.dtype = request.dtype, .outer = request.outer, .inner = request.inner};
  }
  if (cache.dtype != request.dtype || cache.outer != request.outer ||
      cache.inner != request.inner) {
    return Error{DiagCode::kCacheMismatch,
                 fmt::format("the cache holds {} of {} x {} elements a token, a step adds {} of {} "
                             "x {}",
                             name_of(cache.dtype), cache.outer, cache.inner[0],
                             name_of(request.dtype), request.outer, request.inner[0])};
  }
  const std::int64_t needed = cache.pending + request.tokens;
  if (needed > cache.capacity) {
    std::int64_t capacity = std::max({needed, 2 * cache.capacity, kFirstCapacity});
    if (request.limit >= needed) capacity = std::min(capacity, request.limit);
    if (!grow(cache, capacity)) {
      return Error{DiagCode::kLimitExceeded,
                   fmt::format("there is no memory for a cache of {} tokens", capacity)};
    }
  }
  const Tokens tokens = {
      {cache.bytes[0].data(), cache.bytes[1].data()}, cache.capacity, cache.pending};
  cache.pending = needed;
  return tokens;
}

}  // namespace mir

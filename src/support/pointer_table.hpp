// A table over addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mir {

/// Open addressing with linear probing; from an eighth to half full.
template <class Entry>
class PointerTable {
 public:
  /// A new key has a value-initialised entry. The reference is valid until the next call.
  Entry& operator[](const void* key) {
    if (2 * (count_ + 1) > buckets_.size()) grow();
    Bucket& bucket = buckets_[find(key)];
    if (bucket.key == nullptr) {
      bucket.key = key;
      ++count_;
    }
    return bucket.entry;
  }

 private:
  struct Bucket {
    const void* key = nullptr;
    Entry entry{};
  };

  std::size_t find(const void* key) const {
    // Addresses in an arena are evenly spaced; one product alone would put them side by side.
    std::uint64_t hash = reinterpret_cast<std::uintptr_t>(key) * 0x9E3779B97F4A7C15u;
    hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9u;
    std::size_t at = static_cast<std::size_t>(hash >> 32) & (buckets_.size() - 1);
    while (buckets_[at].key != nullptr && buckets_[at].key != key)
      at = (at + 1) & (buckets_.size() - 1);
    return at;
  }

  void grow() {
    constexpr std::size_t kFirst = 64;
    std::vector<Bucket> old(buckets_.empty() ? kFirst : 4 * buckets_.size());
    old.swap(buckets_);
    for (Bucket& bucket : old) {
      if (bucket.key != nullptr) buckets_[find(bucket.key)] = std::move(bucket);
    }
  }

  std::vector<Bucket> buckets_;
  std::size_t count_ = 0;
};

}  // namespace mir

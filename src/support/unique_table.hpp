// Hash tables from text to unique objects.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mir {

inline std::uint64_t hash_text(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

/// Open addressing, keys borrowed. Not thread-safe.
template <class T>
class TextTable {
 public:
  /// The value stored under `key`, or null. The pointer is valid until the next insertion.
  T* find(std::string_view key, std::uint64_t hash) {
    hash |= 1;
    for (std::size_t i = hash >> kShift & mask_;; i = (i + 1) & mask_) {
      Bucket& bucket = buckets_[i];
      if (bucket.hash == 0) return nullptr;
      if (bucket.hash == hash && bucket.key == key) return &bucket.value;
    }
  }
  T* find(std::string_view key) { return find(key, hash_text(key)); }

  /// `key` must not be present and must stay alive.
  void insert(std::string_view key, std::uint64_t hash, T value) {
    if (2 * (size_ + 1) > buckets_.size()) grow();
    place({hash | 1, key, std::move(value)});
    ++size_;
  }
  void insert(std::string_view key, T value) { insert(key, hash_text(key), std::move(value)); }

  /// Calls `visit(key)` for each, in no order that means anything.
  template <class Visit>
  void for_each_key(const Visit& visit) const {
    for (const Bucket& bucket : buckets_) {
      if (bucket.hash != 0) visit(bucket.key);
    }
  }

  /// Calls `visit(key, value&)` for each, in no order that means anything; it may insert nothing.
  template <class Visit>
  void for_each(const Visit& visit) {
    for (Bucket& bucket : buckets_) {
      if (bucket.hash != 0) visit(bucket.key, bucket.value);
    }
  }

  std::size_t memory() const { return buckets_.size() * sizeof(Bucket); }

 private:
  struct Bucket {
    std::uint64_t hash = 0;  // the lowest bit marks a used bucket and is part of no index
    std::string_view key;
    T value{};
  };

  void place(Bucket&& filled) {
    std::size_t i = filled.hash >> kShift & mask_;
    while (buckets_[i].hash != 0) i = (i + 1) & mask_;
    buckets_[i] = std::move(filled);
  }

  void grow() {
    std::vector<Bucket> old(buckets_.size() * 2);
    old.swap(buckets_);
    mask_ = buckets_.size() - 1;
    for (Bucket& bucket : old) {
      if (bucket.hash != 0) place(std::move(bucket));
    }
  }

  static constexpr int kShift = 1;

  std::vector<Bucket> buckets_ = std::vector<Bucket>(64);
  std::size_t mask_ = 63;
  std::size_t size_ = 0;
};

}  // namespace mir

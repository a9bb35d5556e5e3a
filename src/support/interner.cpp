// A concurrent hash table of strings: lock-free lookups, insertions under a mutex.
#include "mir/interner.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "support/arena.hpp"
#include "support/platform/memory.hpp"

namespace mir {

// note [concurrency]
// Writers hold the mutex. Readers take no lock: a bucket is published after the text it names, a
// table after its buckets, and neither tables, texts nor chunks of texts are released or moved
// while the interner lives. A reader that misses (a bucket or a newer table not seen yet) looks
// again under the mutex before it inserts. Replaced tables are at most half as large as their
// successor, so together they stay below the current one.

namespace {

/// Handle in the low half, hash in the high half; 0 is a free bucket, as "" is never in a table.
using Bucket = std::atomic<std::uint64_t>;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// `count` elements of value 0, which is what their constructors make. Throws std::bad_alloc.
template <class T>
T* allocate_zeroed(std::size_t count) {
  static_assert(std::is_trivially_destructible_v<T>);
  void* memory = std::calloc(count, sizeof(T));
  if (memory == nullptr) throw std::bad_alloc();
  prefer_huge_pages(memory, count * sizeof(T));
  return static_cast<T*>(memory);
}

struct Table {
  explicit Table(std::size_t capacity)
      : mask(capacity - 1), buckets(allocate_zeroed<Bucket>(capacity)) {}
  std::size_t mask;
  std::unique_ptr<Bucket[], Free> buckets;
};

constexpr std::size_t kFirstCapacity = 1024;

/// Chunk k holds the texts of 2^(k + 10) consecutive handles, so 23 chunks hold every handle.
constexpr std::uint32_t kFirstChunkBits = 10;
constexpr std::size_t kChunkCount = 33 - kFirstChunkBits;

struct Place {
  std::size_t chunk;
  std::size_t index;
};

Place place_of(std::uint32_t id) {
  const std::uint64_t shifted = std::uint64_t{id} + (1u << kFirstChunkBits);
  const auto bits = static_cast<std::uint32_t>(std::bit_width(shifted)) - 1;
  return {bits - kFirstChunkBits, static_cast<std::size_t>(shifted ^ (std::uint64_t{1} << bits))};
}

}  // namespace

struct StringInterner::State {
  State() {
    tables.push_back(std::make_unique<Table>(kFirstCapacity));
    table.store(tables.back().get(), std::memory_order_release);
    store_text(0, {});
  }

  ~State() {
    for (auto& chunk : chunks) std::free(chunk.load(std::memory_order_relaxed));
  }

  std::string_view text(std::uint32_t id) const {
    const Place at = place_of(id);
    return chunks[at.chunk].load(std::memory_order_acquire)[at.index];
  }

  void store_text(std::uint32_t id, std::string_view text) {
    const Place at = place_of(id);
    if (at.index == 0) {
      const std::size_t capacity = std::size_t{1} << (at.chunk + kFirstChunkBits);
      chunks[at.chunk].store(allocate_zeroed<std::string_view>(capacity),
                             std::memory_order_release);
    }
    chunks[at.chunk].load(std::memory_order_relaxed)[at.index] = text;
  }

  /// Hashes of different interners differ, so no input can be made to collide on purpose.
  std::uint32_t hash(std::string_view text) const {
    const auto seed = reinterpret_cast<std::uintptr_t>(this) * 0x9E3779B97F4A7C15u;
    return static_cast<std::uint32_t>(XXH3_64bits_withSeed(text.data(), text.size(), seed) >> 32);
  }

  struct Found {
    std::uint32_t id;  ///< 0 when the table does not hold the text
    std::size_t at;    ///< its bucket, or the free one it belongs into
  };

  Found probe(const Table& in, std::uint32_t hash, std::string_view text) const {
    for (std::size_t at = hash & in.mask;; at = (at + 1) & in.mask) {
      const std::uint64_t bucket = in.buckets[at].load(std::memory_order_acquire);
      if (bucket == 0) return {0, at};
      const auto id = static_cast<std::uint32_t>(bucket);
      if (bucket >> 32 == hash && this->text(id) == text) return {id, at};
    }
  }

  void grow() {
    const Table& from = *tables.back();
    const std::size_t capacity = 2 * (from.mask + 1);
    auto into = std::make_unique<Table>(capacity);
    for (std::size_t i = 0; i <= from.mask; ++i) {
      const std::uint64_t bucket = from.buckets[i].load(std::memory_order_relaxed);
      if (bucket == 0) continue;
      std::size_t at = (bucket >> 32) & into->mask;
      while (into->buckets[at].load(std::memory_order_relaxed) != 0) at = (at + 1) & into->mask;
      into->buckets[at].store(bucket, std::memory_order_relaxed);
    }
    tables.push_back(std::move(into));
    table.store(tables.back().get(), std::memory_order_release);
  }

  std::uint32_t insert(std::uint32_t hash, std::string_view text) {
    const std::lock_guard lock(mutex);
    if (4 * std::size_t{count} > 3 * tables.back()->mask) grow();
    const Table& into = *tables.back();
    const Found found = probe(into, hash, text);
    if (found.id != 0) return found.id;
    const std::uint32_t id = count++;
    assert(id != 0 && "more than 2^32 - 1 strings");
    store_text(id, arena.copy(text));
    into.buckets[found.at].store(std::uint64_t{hash} << 32 | id, std::memory_order_release);
    return id;
  }

  std::atomic<const Table*> table{nullptr};
  std::array<std::atomic<std::string_view*>, kChunkCount> chunks{};

  std::mutex mutex;  // guards all below
  std::uint32_t count = 1;
  std::vector<std::unique_ptr<Table>> tables;
  Arena arena;
};

StringInterner::StringInterner(std::span<const std::string_view> first)
    : state_(std::make_unique<State>()) {
  for (const std::string_view text : first) intern(text);
}
StringInterner::~StringInterner() = default;

Symbol StringInterner::intern(std::string_view text) {
  if (text.empty()) return {};
  const std::uint32_t hash = state_->hash(text);
  const Table& table = *state_->table.load(std::memory_order_acquire);
  const std::uint32_t id = state_->probe(table, hash, text).id;
  return {id != 0 ? id : state_->insert(hash, text)};
}

Symbol StringInterner::find(std::string_view text) const {
  if (text.empty()) return {};
  const Table& table = *state_->table.load(std::memory_order_acquire);
  return {state_->probe(table, state_->hash(text), text).id};
}

std::string_view StringInterner::text(Symbol symbol) const {
  return state_->text(symbol.id);
}

}  // namespace mir

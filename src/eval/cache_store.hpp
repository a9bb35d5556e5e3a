// Keys and values that KVCacheOp keeps from run to run, with spare memory to append in place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "mir/type.hpp"

namespace mir {

/// Caches by name (see cache_of). What a run appends counts once it is committed.
class CacheStore {
 public:
  /// Keys (0) and values (1) as [outer, capacity, inner], outer and inner being the extents before
  /// and after the one that counts tokens.
  struct Part {
    std::byte* data = nullptr;
    std::int64_t outer = 0;
    std::int64_t row_bytes = 0;  ///< of one token in one of the outer
  };
  /// A cache with tokens that were appended and are the caller's to write.
  struct Tokens {
    std::array<Part, 2> parts;
    std::int64_t capacity = 0;
    std::int64_t held = 0;  ///< before the ones that are added; the most of any sequence
    std::int64_t added = 0;

    /// Bytes of the tokens before the added ones, in one of the outer.
    std::size_t held_bytes(std::size_t which) const {
      return static_cast<std::size_t>(held * parts[which].row_bytes);
    }
    /// From one of the outer to the next.
    std::size_t outer_bytes(std::size_t which) const {
      return static_cast<std::size_t>(capacity * parts[which].row_bytes);
    }
  };
  /// Keys and values, by types and extents, that a step appends.
  struct Request {
    Symbol cache;
    std::size_t axis = 0;  ///< the dimension that counts tokens, equal in both
    std::array<DType, 2> dtypes = {};
    std::array<std::span<const std::int64_t>, 2> extents = {};
    std::int64_t limit = -1;  ///< tokens at most, -1: any number
    /// How many of the step's tokens each sequence keeps; empty: all of them. Sequences are the
    /// first dimension of the tensors.
    std::span<const std::int64_t> counts = {};
  };

  CacheStore();
  ~CacheStore();
  CacheStore(const CacheStore&) = delete;
  CacheStore& operator=(const CacheStore&) = delete;

  /// Tokens that a cache holds after the last commit(); the most of any sequence.
  std::int64_t length(Symbol cache) const;
  /// Tokens that it holds with those that were appended since.
  std::int64_t pending(Symbol cache) const;
  /// Like pending(), for each of so many sequences.
  std::vector<std::int64_t> pending_of_each(Symbol cache, std::int64_t sequences) const;

  /// Reserves memory for the step's tokens after those that the cache holds; they count as pending.
  /// An error when it holds tensors of other types or extents, when sequences of different lengths
  /// get tokens without `counts`, or when memory is short: nothing is changed then.
  /// The memory of a sequence after its tokens, up to held + added, is 0.
  Result<Tokens> append(const Request& request);
  /// Other keys (0) or values (1) in place of all that a cache holds now, in row-major order.
  void replace(Symbol cache, std::size_t which, std::span<const std::byte> all);

  /// Makes the appended tokens count.
  void commit();
  /// Forgets what was appended since the last commit().
  void rollback();
  /// Empties every cache; the memory stays for what follows.
  void clear();
  /// Names of the non-empty caches, unordered.
  std::vector<Symbol> names() const;
  /// Returns the committed keys (0) or values (1) of a non-empty cache, in row-major order.
  Result<Tensor> contents(Symbol cache, std::size_t which) const;
  /// True if all sequences of such a cache hold as many tokens.
  bool has_equal_lengths(Symbol cache) const;
  /// The dimension that counts tokens in such a cache.
  std::size_t axis(Symbol cache) const;
  /// Bytes of the tokens that count in all caches, without the room after them.
  std::uint64_t bytes() const;

 private:
  struct CachedTensor;
  struct Buffers;
  std::unordered_map<Symbol, std::unique_ptr<Buffers>> caches_;
};

}  // namespace mir

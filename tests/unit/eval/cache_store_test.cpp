// Memory of caches: how much there is, what stays when it grows, and what is refused.
#include "eval/cache_store.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "mir/codes/limits.hpp"
#include "mir/context.hpp"

namespace mir::test {

namespace {

/// Appends to one cache whose keys are [2, tokens, 3] of Float32, and values [2, tokens, 1] of
/// Float16; writes the number of each token into all of its bytes.
class Cache {
 public:
  Result<CacheStore::Tokens> append(std::int64_t tokens, std::int64_t limit = -1) {
    const std::int64_t keys[] = {2, tokens, 3}, values[] = {2, tokens, 1};
    auto added = store.append({.cache = name,
                               .axis = 1,
                               .dtypes = {DType::kFloat32, DType::kFloat16},
                               .extents = {keys, values},
                               .limit = limit});
    if (added) fill(*added);
    return added;
  }
  /// True if each token has its number in both parts.
  bool holds(const CacheStore::Tokens& tokens) const {
    for (std::size_t which = 0; which < 2; ++which) {
      for (std::int64_t outer = 0; outer < 2; ++outer) {
        for (std::int64_t token = 0; token < tokens.held + tokens.added; ++token) {
          for (std::int64_t i = 0; i < tokens.parts[which].row_bytes; ++i) {
            if (byte(tokens, which, outer, token)[i] != mark(which, outer, token)) return false;
          }
        }
      }
    }
    return true;
  }

  IRContext context;
  CacheStore store;
  Symbol name = context.intern("kv");

 private:
  static std::byte mark(std::size_t which, std::int64_t outer, std::int64_t token) {
    return static_cast<std::byte>(token * 4 + outer * 2 + static_cast<std::int64_t>(which));
  }
  static std::byte* byte(const CacheStore::Tokens& tokens, std::size_t which, std::int64_t outer,
                         std::int64_t token) {
    const CacheStore::Part& part = tokens.parts[which];
    return part.data + (outer * tokens.capacity + token) * part.row_bytes;
  }
  static void fill(const CacheStore::Tokens& tokens) {
    for (std::size_t which = 0; which < 2; ++which) {
      for (std::int64_t outer = 0; outer < 2; ++outer) {
        for (std::int64_t token = tokens.held; token < tokens.held + tokens.added; ++token) {
          std::memset(byte(tokens, which, outer, token),
                      static_cast<int>(mark(which, outer, token)),
                      static_cast<std::size_t>(tokens.parts[which].row_bytes));
        }
      }
    }
  }
};

}  // namespace

TEST_CASE("a cache has room for 256 tokens, then for twice as many, and keeps those it has") {
  Cache cache;
  std::vector<std::int64_t> capacities;
  std::int64_t held = 0;
  for (const std::int64_t tokens : {1, 255, 1, 255, 1, 1024, 0}) {
    const auto added = cache.append(tokens);
    REQUIRE(added);
    CHECK(added->held == held);
    CHECK(added->added == tokens);
    held += tokens;
    capacities.push_back(added->capacity);
    CHECK(cache.holds(*added));
    CHECK(added->parts[0].row_bytes == 12);
    CHECK(added->parts[1].row_bytes == 2);
    CHECK(added->parts[1].outer == 2);
    CHECK(added->held_bytes(0) == static_cast<std::size_t>(added->held * 12));
    CHECK(added->outer_bytes(1) == static_cast<std::size_t>(added->capacity * 2));
    cache.store.commit();
    CHECK(cache.store.length(cache.name) == held);
    CHECK(cache.store.bytes() == static_cast<std::uint64_t>(2 * held * (12 + 2)));
  }
  CHECK(capacities == std::vector<std::int64_t>{256, 256, 512, 512, 1024, 2048, 2048});
}

TEST_CASE("a cache takes no more memory than its limit needs") {
  const auto capacity = [](std::int64_t tokens, std::int64_t limit) {
    Cache cache;
    const auto added = cache.append(tokens, limit);
    REQUIRE(added);
    return added->capacity;
  };
  CHECK(capacity(3, 3) == 3);
  CHECK(capacity(3, 100) == 100);
  CHECK(capacity(3, 300) == 256);
  CHECK(capacity(3, 2) == 3);  // padding may reach beyond the limit
  CHECK(capacity(300, -1) == 300);
}

TEST_CASE("tokens count once they are committed") {
  Cache cache;
  CHECK(cache.store.length(cache.name) == 0);
  CHECK(cache.store.pending(cache.name) == 0);
  REQUIRE(cache.append(2));
  CHECK(cache.store.length(cache.name) == 0);
  CHECK(cache.store.pending(cache.name) == 2);
  CHECK(cache.store.bytes() == 0);
  cache.store.commit();
  REQUIRE(cache.append(3));
  CHECK(cache.store.pending(cache.name) == 5);
  cache.store.rollback();
  CHECK(cache.store.pending(cache.name) == 2);
  const auto again = cache.append(1);
  REQUIRE(again);
  CHECK(again->held == 2);
  CHECK(cache.holds(*again));
  cache.store.commit();
  cache.store.clear();
  CHECK(cache.store.length(cache.name) == 0);
  CHECK(cache.store.pending(cache.name) == 0);
}

TEST_CASE("all tokens of a cache can be replaced") {
  Cache cache;
  REQUIRE(cache.append(2));
  std::vector<std::byte> keys(2 * 2 * 12);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::byte>(100 + i);
  cache.store.replace(cache.name, 0, keys);
  const auto tokens = cache.append(0);
  REQUIRE(tokens);
  for (std::size_t outer = 0; outer < 2; ++outer) {
    const std::byte* const row = tokens->parts[0].data + outer * tokens->outer_bytes(0);
    CHECK(std::memcmp(row, keys.data() + outer * 24, 24) == 0);
    // What follows belongs to no token.
    CHECK(row[24] == std::byte{0});
  }
}

TEST_CASE(
    "a cache takes one type and one shape apart from the number of tokens, until it is empty") {
  IRContext context;
  CacheStore store;
  using Extents = std::vector<std::int64_t>;
  const auto error = [&](std::size_t axis, DType keys, const Extents& key_extents, DType values,
                         const Extents& value_extents) {
    const auto added = store.append({.cache = context.intern("kv"),
                                     .axis = axis,
                                     .dtypes = {keys, values},
                                     .extents = {key_extents, value_extents},
                                     .limit = -1});
    return added.ok() ? std::string() : added.error().message;
  };
  constexpr DType kFloat = DType::kFloat32, kHalf = DType::kFloat16;
  CHECK(error(1, kFloat, {2, 5, 3}, kHalf, {2, 5, 1}).empty());
  CHECK(error(1, kFloat, {2, 1, 3}, kHalf, {2, 1, 1}).empty());
  const std::string keys = "the cache holds Float32 [2, 6, 3], a step adds ";
  const std::string values = "the cache holds Float16 [2, 6, 1], a step adds ";
  CHECK(error(1, kHalf, {2, 1, 3}, kHalf, {2, 1, 1}) == keys + "Float16 [2, 1, 3]");
  CHECK(error(1, kFloat, {3, 1, 3}, kHalf, {2, 1, 1}) == keys + "Float32 [3, 1, 3]");
  CHECK(error(1, kFloat, {2, 1, 4}, kHalf, {2, 1, 1}) == keys + "Float32 [2, 1, 4]");
  CHECK(error(1, kFloat, {2, 1, 3, 1}, kHalf, {2, 1, 1}) == keys + "Float32 [2, 1, 3, 1]");
  CHECK(error(1, kFloat, {2, 1, 3}, kFloat, {2, 1, 1}) == values + "Float32 [2, 1, 1]");
  CHECK(error(1, kFloat, {2, 1, 3}, kHalf, {2, 1, 2}) == values + "Float16 [2, 1, 2]");
  CHECK(error(0, kFloat, {2, 1, 3}, kHalf, {2, 1, 1}) == keys + "Float32 [2, 1, 3]");
  CHECK(store.pending(context.intern("kv")) == 6);
  store.clear();
  CHECK(error(0, kHalf, {4, 2}, kHalf, {4, 2}).empty());
  CHECK(store.pending(context.intern("kv")) == 4);
}

TEST_CASE("a cache that no memory can hold is refused and stays as it is") {
  Cache cache;
  REQUIRE(cache.append(4));
  // 2^39 bytes of keys at most.
  for (const std::int64_t tokens : {(std::int64_t{1} << 39) / 24 + 1, std::int64_t{1} << 60}) {
    const std::int64_t keys[] = {2, tokens, 3}, values[] = {2, tokens, 1};
    const auto added = cache.store.append({.cache = cache.name,
                                           .axis = 1,
                                           .dtypes = {DType::kFloat32, DType::kFloat16},
                                           .extents = {keys, values},
                                           .limit = -1});
    REQUIRE_FALSE(added);
    CHECK(added.error().code == diag::kLimitExceeded);
  }
  CHECK(cache.store.pending(cache.name) == 4);
  const auto more = cache.append(1);
  REQUIRE(more);
  CHECK(more->held == 4);
  CHECK(cache.holds(*more));
}

}  // namespace mir::test

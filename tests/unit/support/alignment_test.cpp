// Common subsequences, against their definition.
#include "support/alignment.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace mir;

namespace {

using Ids = std::vector<std::uint32_t>;

std::size_t longest(const Ids& a, const Ids& b) {
  std::vector<std::vector<std::size_t>> lengths(a.size() + 1,
                                                std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      lengths[i][j] = a[i - 1] == b[j - 1] ? lengths[i - 1][j - 1] + 1
                                           : std::max(lengths[i - 1][j], lengths[i][j - 1]);
    }
  }
  return lengths[a.size()][b.size()];
}

/// True if the pairs are of equal elements and in the order of both.
bool is_common_subsequence(const std::vector<AlignedPair>& pairs, const Ids& a, const Ids& b) {
  std::ptrdiff_t before = -1, after = -1;
  for (const AlignedPair& pair : pairs) {
    if (pair.before <= before || pair.after <= after) return false;
    before = pair.before;
    after = pair.after;
    if (before >= std::ssize(a) || after >= std::ssize(b)) return false;
    if (a[static_cast<std::size_t>(before)] != b[static_cast<std::size_t>(after)]) return false;
  }
  return true;
}

Ids random_ids(std::mt19937& bits, std::size_t most, std::uint32_t kinds) {
  Ids ids(bits() % (most + 1));
  for (std::uint32_t& id : ids) id = static_cast<std::uint32_t>(bits() % kinds);
  return ids;
}

}  // namespace

TEST_CASE("sequences are aligned by a longest common subsequence") {
  std::mt19937 bits(41);
  for (int round = 0; round < 3000; ++round) {
    const auto kinds = static_cast<std::uint32_t>(1 + bits() % 6);
    const Ids a = random_ids(bits, 12, kinds), b = random_ids(bits, 12, kinds);
    const auto pairs = align(a, b);
    CAPTURE(round);
    REQUIRE(is_common_subsequence(pairs, a, b));
    REQUIRE(pairs.size() == longest(a, b));
  }
}

TEST_CASE("elements of one sequence alone lie between the pairs") {
  const Ids a{7, 1, 2, 8, 3, 9}, b{1, 5, 2, 6, 6, 3};
  const auto pairs = align(a, b);
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[0].before == 1);
  CHECK(pairs[0].after == 0);
  CHECK(pairs[1].before == 2);
  CHECK(pairs[1].after == 2);
  CHECK(pairs[2].before == 4);
  CHECK(pairs[2].after == 5);
}

TEST_CASE("sequences that differ in more places than are searched at once are aligned in parts") {
  std::mt19937 bits(42);
  for (const std::size_t length : {511U, 512U, 513U, 2000U}) {
    CAPTURE(length);
    // Nothing in order: one sequence is the other one reversed.
    Ids a(length), b(length);
    for (std::size_t i = 0; i < length; ++i) {
      a[i] = static_cast<std::uint32_t>(i);
      b[length - 1 - i] = a[i];
    }
    auto pairs = align(a, b);
    CHECK(is_common_subsequence(pairs, a, b));
    CHECK_FALSE(pairs.empty());
    // Equal ends around a middle in another order.
    Ids c = a;
    std::shuffle(c.begin() + static_cast<std::ptrdiff_t>(length / 4),
                 c.begin() + static_cast<std::ptrdiff_t>(length / 2), bits);
    pairs = align(a, c);
    CHECK(is_common_subsequence(pairs, a, c));
    CHECK(pairs.size() >= length * 3 / 4);
  }
}

#include "arena.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace mir::test {

namespace {

bool overlap(const Lifetime& a, const Lifetime& b) {
  const bool in_time = a.first <= b.last && b.first <= a.last;
  const bool in_space = a.offset < b.offset + b.size && b.offset < a.offset + a.size;
  return in_time && in_space;
}

}  // namespace

TEST_CASE("values that are alive together get places apart") {
  std::mt19937 generator(1);
  const auto below = [&](std::uint32_t end) {
    return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(generator);
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> values;
    for (int i = 0; i < 60; ++i) {
      const std::uint32_t first = below(40);
      values.push_back({.size = below(5000), .first = first, .last = first + below(8)});
    }
    const std::uint64_t size = place(values);
    CHECK(size >= most_alive(values));
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(values[i].offset % 64 == 0);
      CHECK(values[i].offset + values[i].size <= size);
      for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(values[i], values[j]));
    }
  }
}

TEST_CASE("a chain of values needs two places") {
  std::vector<Lifetime> values;
  for (std::uint32_t i = 0; i < 100; ++i)
    values.push_back({.size = 640, .first = i, .last = i + 1});
  CHECK(most_alive(values) == 1280);
  CHECK(place(values) == 1280);
  std::vector<Lifetime> none;
  CHECK(place(none) == 0);
  CHECK(most_alive(none) == 0);
}

}  // namespace mir::test

#include "plan/arena.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <span>
#include <vector>

namespace mir::test {

namespace {

bool overlap(const Lifetime& a, const Lifetime& b) {
  const bool in_time = a.first <= b.last && b.first <= a.last;
  const bool in_space = a.offset < b.offset + b.size && b.offset < a.offset + a.size;
  return in_time && in_space;
}

std::uint64_t in_lines(std::uint64_t size) {
  return size % 64 == 0 ? size : size + 64 - size % 64;
}

/// The offsets of a search line by line: the largest values first, the first of equal ones first.
std::vector<std::uint64_t> searched_offsets(std::span<const Lifetime> values) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return values[i].size; });
  std::vector<std::uint64_t> offsets(values.size());
  std::vector<Lifetime> placed;
  for (const std::size_t i : order) {
    Lifetime value = values[i];
    value.offset = 0;
    value.size = in_lines(value.size);
    while (
        std::ranges::any_of(placed, [&](const Lifetime& each) { return overlap(value, each); })) {
      value.offset += 64;
    }
    offsets[i] = value.offset;
    placed.push_back(value);
  }
  return offsets;
}

/// The bytes that are alive at the busiest node.
std::uint64_t counted_bytes(std::span<const Lifetime> values) {
  std::uint64_t most = 0;
  for (std::uint32_t node = 0; node < 60; ++node) {
    std::uint64_t alive = 0;
    for (const Lifetime& each : values) {
      if (each.first <= node && node <= each.last) alive += in_lines(each.size);
    }
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace

TEST_CASE("values have the places and the bound of a plain search") {
  std::mt19937 generator(2);
  const auto below = [&](std::uint32_t end) {
    return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(generator);
  };
  for (std::uint32_t round = 0; round < 60; ++round) {
    Placements placements;
    // Few sizes, so that equal ones and gaps of their size occur.
    for (int i = 0; i < 30; ++i) {
      const std::uint32_t first = below(20);
      placements.add({.size = below(8) * 64 + (round % 2 == 0 ? 0 : below(3)),
                      .first = first,
                      .last = first + below(4)});
    }
    const std::uint64_t end = placements.place();
    const auto values = placements.values();
    const std::vector<std::uint64_t> wanted = searched_offsets(values);
    std::uint64_t highest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(values[i].offset == wanted[i]);
      highest = std::max(highest, wanted[i] + in_lines(values[i].size));
    }
    CHECK(end == highest);
    CHECK(most_alive(values) == counted_bytes(values));
  }
}

TEST_CASE("values that are alive together get places apart") {
  std::mt19937 generator(1);
  const auto below = [&](std::uint32_t end) {
    return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(generator);
  };
  for (int round = 0; round < 50; ++round) {
    Placements placements;
    for (int i = 0; i < 60; ++i) {
      const std::uint32_t first = below(40);
      placements.add({.size = below(5000), .first = first, .last = first + below(8)});
    }
    const std::uint64_t size = placements.place();
    const auto values = placements.values();
    CHECK(size >= most_alive(values));
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(values[i].offset % 64 == 0);
      CHECK(values[i].offset + values[i].size <= size);
      for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(values[i], values[j]));
    }
  }
}

TEST_CASE("a chain of values needs two places") {
  Placements chain;
  for (std::uint32_t i = 0; i < 100; ++i) chain.add({.size = 640, .first = i, .last = i + 1});
  CHECK(most_alive(chain.values()) == 1280);
  CHECK(chain.place() == 1280);
  Placements none;
  CHECK(none.place() == 0);
  CHECK(most_alive(none.values()) == 0);
}

TEST_CASE("a value takes the first gap that it fits into") {
  Placements placements;
  placements.add({.size = 128, .first = 0, .last = 3});  // below
  placements.add({.size = 120, .first = 0, .last = 1});  // leaves the gap
  placements.add({.size = 100, .first = 1, .last = 3});  // above it
  placements.add({.size = 64, .first = 2, .last = 3});   // goes into it
  CHECK(placements.place() == 384);
  const auto values = placements.values();
  CHECK(values[1].offset == 128);
  CHECK(values[2].offset == 256);
  CHECK(values[3].offset == 128);
}

TEST_CASE("sizes that come again are placed as they were") {
  Placements placements;
  for (std::uint32_t i = 0; i < 20; ++i) {
    placements.add({.first = i, .last = i + 1 + i % 3});
  }
  const auto place = [&](std::uint32_t scale) {
    for (std::uint32_t i = 0; i < 20; ++i) placements.values()[i].size = (i * 7 % 5 + 1) * scale;
    std::vector<std::uint64_t> offsets = {placements.place()};
    for (const Lifetime& value : placements.values()) offsets.push_back(value.offset);
    return offsets;
  };
  std::vector<std::vector<std::uint64_t>> first;
  // More sizes than are remembered, each twice.
  for (std::uint32_t scale = 1; scale < 8; ++scale) first.push_back(place(scale * 100));
  for (std::uint32_t scale = 1; scale < 8; ++scale) CHECK(place(scale * 100) == first[scale - 1]);
  for (std::uint32_t scale = 7; scale > 0; --scale) CHECK(place(scale * 100) == first[scale - 1]);
}

}  // namespace mir::test

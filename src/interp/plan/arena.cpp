#include "arena.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace mir {

namespace {

constexpr std::uint64_t kAlignment = 64;

std::uint64_t aligned(std::uint64_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

bool overlap_in_time(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

std::uint64_t place(std::span<Lifetime> values) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::uint32_t i) { return values[i].size; });
  std::uint64_t end = 0;
  std::vector<const Lifetime*> placed;  // by offset
  for (const std::uint32_t index : order) {
    Lifetime& value = values[index];
    std::uint64_t offset = 0;
    for (const Lifetime* other : placed) {
      if (!overlap_in_time(*other, value)) continue;
      if (other->offset >= offset + aligned(value.size)) break;
      offset = std::max(offset, other->offset + aligned(other->size));
    }
    value.offset = offset;
    end = std::max(end, offset + aligned(value.size));
    placed.insert(std::ranges::upper_bound(placed, offset, {}, &Lifetime::offset), &value);
  }
  return end;
}

std::uint64_t most_alive(std::span<const Lifetime> values) {
  std::map<std::uint32_t, std::int64_t> changes;
  for (const Lifetime& value : values) {
    changes[value.first] += static_cast<std::int64_t>(aligned(value.size));
    changes[value.last + 1] -= static_cast<std::int64_t>(aligned(value.size));
  }
  std::int64_t alive = 0, most = 0;
  for (const auto& [node, change] : changes) {
    alive += change;
    most = std::max(most, alive);
  }
  return static_cast<std::uint64_t>(most);
}

}  // namespace mir

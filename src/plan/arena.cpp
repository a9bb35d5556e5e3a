// Places values of known lifetimes in one block of memory, largest first, without overlap.
#include "plan/arena.hpp"

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

std::uint64_t Placements::place() {
  if (const Placed* const known = find(); known != nullptr) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i].offset = known->offsets[i];
    return known->end;
  }
  const std::uint64_t end = place_anew();
  remember(end);
  return end;
}

const Placements::Placed* Placements::find() const {
  const auto found = std::ranges::find_if(remembered_, [&](const Placed& each) {
    return each.is_valid && std::ranges::equal(values_, each.sizes, {}, &Lifetime::size);
  });
  return found == remembered_.end() ? nullptr : &*found;
}

std::uint64_t Placements::place_anew() {
  order_.resize(values_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
    return values_[a].size != values_[b].size ? values_[a].size > values_[b].size : a < b;
  });
  std::uint64_t end = 0;
  placed_.clear();
  placed_.reserve(values_.size());
  for (const std::uint32_t index : order_) {
    Lifetime& value = values_[index];
    std::uint64_t offset = 0;
    for (const Lifetime* other : placed_) {
      if (!overlap_in_time(*other, value)) continue;
      if (other->offset >= offset + aligned(value.size)) break;
      offset = std::max(offset, other->offset + aligned(other->size));
    }
    value.offset = offset;
    end = std::max(end, offset + aligned(value.size));
    placed_.insert(std::ranges::upper_bound(placed_, offset, {}, &Lifetime::offset), &value);
  }
  return end;
}

void Placements::remember(std::uint64_t end) {
  for (Placed& each : remembered_) {
    each.sizes.resize(values_.size());
    each.offsets.resize(values_.size());
  }
  Placed& kept = remembered_[next_];
  next_ = (next_ + 1) % remembered_.size();
  std::ranges::transform(values_, kept.sizes.begin(), &Lifetime::size);
  std::ranges::transform(values_, kept.offsets.begin(), &Lifetime::offset);
  kept.end = end;
  kept.is_valid = true;
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

// note [suffixes]: the suffixes of the sequence are sorted. Suffixes with a common prefix are
// neighbours, and the lengths of the common prefixes of neighbours form a tree of intervals: an
// interval of the sorted suffixes and the prefix that all of them share. Each repeated part is the
// prefix of an interval.
#include "passes/outline/repeats.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace mir {

namespace {

/// The starts of all suffixes in the order of their tokens, by doubling the length that is
/// compared. Each round takes linear time: the order by the second half is known from the round
/// before, and a stable counting sort orders by the first.
std::vector<std::size_t> sorted_suffixes(std::span<const std::uint32_t> tokens) {
  const std::size_t count = tokens.size();
  std::vector<std::size_t> order(count), by_second(count), rank(count), next(count), places;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t start) { return tokens[start]; });
  // Ranks of the suffixes; those are equal that `same` holds for.
  const auto rank_all = [&](const auto& same) {
    std::size_t ranks = 0;
    for (std::size_t i = 0; i < count; ++i) {
      ranks += i > 0 && !same(order[i - 1], order[i]) ? 1 : 0;
      next[order[i]] = ranks;
    }
    rank.swap(next);
    return ranks + 1;
  };
  std::size_t ranks =
      rank_all([&](std::size_t a, std::size_t b) { return tokens[a] == tokens[b]; });
  for (std::size_t length = 1; ranks < count && length < count; length *= 2) {
    std::size_t used = 0;
    for (std::size_t start = count - length; start < count; ++start) by_second[used++] = start;
    for (const std::size_t start : order) {
      if (start >= length) by_second[used++] = start - length;
    }
    places.assign(ranks + 1, 0);
    for (const std::size_t each : rank) ++places[each + 1];
    std::partial_sum(places.begin(), places.end(), places.begin());
    for (const std::size_t start : by_second) order[places[rank[start]]++] = start;
    const auto second = [&](std::size_t start) {
      return start + length < count ? rank[start + length] + 1 : 0;
    };
    ranks = rank_all(
        [&](std::size_t a, std::size_t b) { return rank[a] == rank[b] && second(a) == second(b); });
  }
  return order;
}

/// For each sorted suffix the length of the prefix that it shares with the one before.
std::vector<std::size_t> common_prefixes(std::span<const std::uint32_t> tokens,
                                         std::span<const std::size_t> order) {
  const std::size_t count = tokens.size();
  std::vector<std::size_t> place(count), common(count, 0);
  for (std::size_t i = 0; i < count; ++i) place[order[i]] = i;
  std::size_t length = 0;
  for (std::size_t start = 0; start < count; ++start) {
    if (place[start] == 0) {
      length = 0;
      continue;
    }
    const std::size_t other = order[place[start] - 1];
    while (std::max(start, other) + length < count &&
           tokens[start + length] == tokens[other + length]) {
      ++length;
    }
    common[place[start]] = length;
    length -= length > 0 ? 1 : 0;
  }
  return common;
}

class RepeatSearch {
 public:
  RepeatSearch(std::span<const std::uint32_t> tokens, std::size_t least)
      : least_(least), order_(sorted_suffixes(tokens)), common_(common_prefixes(tokens, order_)) {}

  std::vector<Repeat> find() {
    std::vector<Interval> open = {{0, order_.size()}};
    while (!open.empty()) {
      const Interval at = open.back();
      open.pop_back();
      if (at.size() < 2) continue;
      const auto shallow =
          std::min_element(common_.begin() + at.begin + 1, common_.begin() + at.end);
      const std::size_t depth = *shallow;
      if (depth >= least_ && is_periodic(at, depth)) continue;
      // Where the shared prefix is shortest, the interval falls apart.
      std::size_t begin = at.begin;
      for (std::size_t i = at.begin + 1; i < at.end; ++i) {
        if (common_[i] != depth) continue;
        open.push_back({begin, i});
        begin = i;
      }
      open.push_back({begin, at.end});
    }
    std::ranges::sort(repeats_, [](const Repeat& a, const Repeat& b) {
      const auto rank = [](const Repeat& each) {
        return std::tuple(~each.covered(), each.length, each.starts.front());
      };
      return rank(a) < rank(b);
    });
    return std::move(repeats_);
  }

 private:
  struct Interval {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
  };

  /// Adds the repeats of an interval whose suffixes share so many tokens. Returns whether parts
  /// overlap: then the sequence has a period there, and longer prefixes are several periods.
  bool is_periodic(Interval at, std::size_t depth) {
    std::vector<std::size_t> starts(order_.begin() + at.begin, order_.begin() + at.end);
    std::ranges::sort(starts);
    std::size_t gap = depth;
    for (std::size_t i = 1; i < starts.size(); ++i) gap = std::min(gap, starts[i] - starts[i - 1]);
    add(starts, depth);
    if (gap == depth) return false;
    // Only the shared prefix is known to be equal.
    add(starts, std::min(depth, std::max(gap, (least_ + gap - 1) / gap * gap)));
    return true;
  }

  void add(std::span<const std::size_t> starts, std::size_t length) {
    Repeat repeat{.length = length};
    for (const std::size_t start : starts) {
      if (repeat.starts.empty() || start >= repeat.starts.back() + length) {
        repeat.starts.push_back(start);
      }
    }
    if (repeat.starts.size() > 1) repeats_.push_back(std::move(repeat));
  }

  std::size_t least_;
  std::vector<std::size_t> order_, common_;
  std::vector<Repeat> repeats_;
};

}  // namespace

std::vector<Repeat> find_repeats(std::span<const std::uint32_t> tokens, std::size_t least) {
  // Each 0 is a token of its own.
  std::vector<std::uint32_t> distinct(tokens.begin(), tokens.end());
  std::uint32_t free = tokens.empty() ? 0 : *std::ranges::max_element(tokens) + 1;
  for (std::uint32_t& token : distinct) {
    if (token == 0) token = free++;
  }
  return RepeatSearch(distinct, least).find();
}

}  // namespace mir

// Myers' greedy longest-common-subsequence search, bounded, on the elements both sequences have.
#include "support/alignment.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace mir {

namespace {

using Ids = std::vector<std::uint32_t>;
using Match = AlignedPair;

/// Edits searched before the best path so far is taken for good.
constexpr std::ptrdiff_t kWindow = 512;

/// Greedy search for a longest common subsequence: after d edits, furthest[k] is how far the best
/// path on diagonal k (before - after) reaches in `before`. Each round keeps the furthest array of
/// every d in order to walk the path back.
class Search {
 public:
  Search(const Ids& before, const Ids& after) : before_(before), after_(after) {}

  std::vector<Match> run() {
    while (x_ < size(before_) && y_ < size(after_)) advance();
    return std::move(matches_);
  }

 private:
  static std::ptrdiff_t size(const Ids& ids) { return static_cast<std::ptrdiff_t>(ids.size()); }

  std::ptrdiff_t slide(std::ptrdiff_t x, std::ptrdiff_t y) const {
    while (x < size(before_) && y < size(after_) && before_[x] == after_[y]) ++x, ++y;
    return x;
  }

  /// One window of edits from (x_, y_), relative to which diagonals are counted.
  void advance() {
    rounds_.clear();
    std::vector<std::ptrdiff_t> reach(2 * kWindow + 3, 0);
    const auto at = [&](std::ptrdiff_t k) -> std::ptrdiff_t& { return reach[k + kWindow + 1]; };
    at(1) = x_;
    std::ptrdiff_t best = x_ + y_ - 1;
    std::pair<std::ptrdiff_t, std::ptrdiff_t> end{0, 0};  // edits and diagonal of the best path
    for (std::ptrdiff_t d = 0; d <= kWindow; ++d) {
      for (std::ptrdiff_t k = -d; k <= d; k += 2) {
        const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
        std::ptrdiff_t x = down ? at(k + 1) : at(k - 1) + 1;
        std::ptrdiff_t y = x - x_ - k + y_;
        if (x > size(before_) || y > size(after_)) {
          at(k) = x;
          continue;
        }
        x = slide(x, y);
        y = x - x_ - k + y_;
        at(k) = x;
        if (x + y > best) {
          best = x + y;
          end = {d, k};
        }
      }
      rounds_.emplace_back(reach.begin() + (kWindow + 1 - d), reach.begin() + (kWindow + 2 + d));
      if (best == size(before_) + size(after_)) break;
    }
    walk_back(end.first, end.second);
  }

  /// Adds the matches of the path that ends on diagonal `k` after `d` edits and goes there.
  void walk_back(std::ptrdiff_t d, std::ptrdiff_t k) {
    const std::size_t first = matches_.size();
    const auto reached = [&](std::ptrdiff_t edits, std::ptrdiff_t diagonal) {
      return rounds_[edits][diagonal + edits];
    };
    const std::ptrdiff_t x_end = reached(d, k);
    const std::ptrdiff_t y_end = x_end - x_ - k + y_;
    std::ptrdiff_t x = x_end;
    for (std::ptrdiff_t diagonal = k; d >= 0; --d) {
      std::ptrdiff_t start = x_;
      std::ptrdiff_t next = diagonal;
      if (d > 0) {
        const bool down = diagonal == -d || (diagonal != d && reach_before(d, diagonal - 1) <
                                                                  reach_before(d, diagonal + 1));
        next = down ? diagonal + 1 : diagonal - 1;
        start = down ? reach_before(d, next) : reach_before(d, next) + 1;
      }
      for (; x > start; --x) matches_.push_back({x - 1, x - 1 - x_ - diagonal + y_});
      if (d > 0) x = reach_before(d, next);
      diagonal = next;
    }
    std::reverse(matches_.begin() + static_cast<std::ptrdiff_t>(first), matches_.end());
    x_ = x_end;
    y_ = y_end;
  }

  /// Position that diagonal `k` had reached when round `d` began.
  std::ptrdiff_t reach_before(std::ptrdiff_t d, std::ptrdiff_t k) const {
    return rounds_[d - 1][k + d - 1];
  }

  const Ids& before_;
  const Ids& after_;
  std::ptrdiff_t x_ = 0;
  std::ptrdiff_t y_ = 0;
  std::vector<std::vector<std::ptrdiff_t>> rounds_;
  std::vector<Match> matches_;
};

/// Elements that the other sequence has as well, with their indices.
struct Shared {
  Ids ids;
  std::vector<std::ptrdiff_t> index;

  Shared(std::span<const std::uint32_t> all, std::span<const std::uint32_t> other) {
    const std::unordered_set<std::uint32_t> known(other.begin(), other.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!known.contains(all[i])) continue;
      ids.push_back(all[i]);
      index.push_back(static_cast<std::ptrdiff_t>(i));
    }
  }
};

}  // namespace

std::vector<AlignedPair> align(std::span<const std::uint32_t> before,
                               std::span<const std::uint32_t> after) {
  const Shared from(before, after), to(after, before);
  std::vector<Match> matches = Search(from.ids, to.ids).run();
  for (Match& pair : matches) pair = {from.index[pair.before], to.index[pair.after]};
  return matches;
}

}  // namespace mir

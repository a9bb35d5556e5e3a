#include "line_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mir::tools {

namespace {

using Lines = std::vector<std::string_view>;
using Ids = std::vector<std::uint32_t>;

constexpr std::ptrdiff_t kContext = 3;
/// Edits searched before the best path so far is taken for good.
constexpr std::ptrdiff_t kWindow = 512;

/// Lines with their line ends.
Lines split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// A pair of equal lines, as indices.
struct Match {
  std::ptrdiff_t before;
  std::ptrdiff_t after;
};

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

  /// What diagonal `k` had reached when round `d` began.
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

/// Equal lines of both texts, in order. Lines that only one text has are left out of the search.
std::vector<Match> match(const Lines& before, const Lines& after) {
  std::unordered_map<std::string_view, std::uint32_t> known;
  for (const std::string_view line : before)
    known.emplace(line, static_cast<std::uint32_t>(known.size()));
  Ids after_ids;
  std::vector<std::ptrdiff_t> after_index;
  std::vector<bool> shared(known.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto found = known.find(after[i]);
    if (found == known.end()) continue;
    shared[found->second] = true;
    after_ids.push_back(found->second);
    after_index.push_back(static_cast<std::ptrdiff_t>(i));
  }
  Ids before_ids;
  std::vector<std::ptrdiff_t> before_index;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::uint32_t id = known.find(before[i])->second;
    if (!shared[id]) continue;
    before_ids.push_back(id);
    before_index.push_back(static_cast<std::ptrdiff_t>(i));
  }
  std::vector<Match> matches = Search(before_ids, after_ids).run();
  for (Match& pair : matches) pair = {before_index[pair.before], after_index[pair.after]};
  return matches;
}

// -- output ---------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(const Lines& before, const Lines& after, bool colour)
      : before_(before), after_(after), colour_(colour) {}

  void names(std::string_view before, std::string_view after) {
    styled("\x1b[1m", fmt::format("--- {}\n", before));
    styled("\x1b[1m", fmt::format("+++ {}\n", after));
  }

  /// The hunk that holds the differences between the matches `first` and `last` (exclusive ends of
  /// its lines are given) with their context.
  void hunk(Match begin, Match end, const std::vector<Match>& matches, std::size_t next) {
    styled("\x1b[36m", fmt::format("@@ -{} +{} @@\n", range(begin.before, end.before),
                                   range(begin.after, end.after)));
    Match at = begin;
    for (;; ++next) {
      const bool more = next < matches.size() && matches[next].before < end.before &&
                        matches[next].after < end.after;
      const Match until = more ? matches[next] : end;
      for (; at.before < until.before; ++at.before) line("\x1b[31m", '-', before_[at.before]);
      for (; at.after < until.after; ++at.after) line("\x1b[32m", '+', after_[at.after]);
      if (!more) return;
      line("", ' ', before_[at.before]);
      ++at.before;
      ++at.after;
    }
  }

  std::string take() { return std::move(out_); }

 private:
  static std::string range(std::ptrdiff_t begin, std::ptrdiff_t end) {
    const std::ptrdiff_t count = end - begin;
    // An empty range names the line before it.
    return fmt::format("{},{}", count == 0 ? begin : begin + 1, count);
  }

  void styled(std::string_view style, std::string_view text) {
    if (!colour_ || style.empty()) {
      out_ += text;
      return;
    }
    const bool ends = text.ends_with('\n');
    text.remove_suffix(ends ? 1 : 0);
    out_.append(style).append(text).append("\x1b[0m").append(ends ? "\n" : "");
  }

  void line(std::string_view style, char mark, std::string_view text) {
    styled(style, std::string(1, mark).append(text));
    if (!text.ends_with('\n')) out_ += "\n\\ No newline at end of file\n";
  }

  const Lines& before_;
  const Lines& after_;
  bool colour_;
  std::string out_;
};

}  // namespace

std::string unified_diff(std::string_view before_text, std::string_view after_text,
                         std::string_view before_name, std::string_view after_name, bool colour) {
  if (before_text == after_text) return "";
  const Lines before = split(before_text);
  const Lines after = split(after_text);
  const std::vector<Match> matches = match(before, after);
  Writer writer(before, after, colour);
  writer.names(before_name, after_name);
  const Match last{static_cast<std::ptrdiff_t>(before.size()),
                   static_cast<std::ptrdiff_t>(after.size())};
  Match done{0, 0};             // lines before this are equal or written
  bool open = false;            // whether a hunk has begun
  Match begin{0, 0};            // of the open hunk
  std::size_t first_match = 0;  // of the open hunk
  std::size_t run = 0;          // equal lines since the last difference
  for (std::size_t i = 0; i <= matches.size(); ++i) {
    const Match at = i < matches.size() ? matches[i] : last;
    if (at.before != done.before || at.after != done.after) {
      if (!open) {
        const auto lead = static_cast<std::ptrdiff_t>(std::min<std::size_t>(run, kContext));
        begin = {done.before - lead, done.after - lead};
        first_match = i - static_cast<std::size_t>(lead);
        open = true;
      }
      run = 0;
    }
    if (i == matches.size()) break;
    done = {at.before + 1, at.after + 1};
    ++run;
    if (open && run > 2 * kContext) {
      const auto tail = static_cast<std::ptrdiff_t>(run) - kContext;
      writer.hunk(begin, {done.before - tail, done.after - tail}, matches, first_match);
      open = false;
    }
  }
  if (open) {
    const auto tail = std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(run) - kContext, 0);
    writer.hunk(begin, {last.before - tail, last.after - tail}, matches, first_match);
  }
  return writer.take();
}

}  // namespace mir::tools

// Pairs equal steps of two schedules by their longest common subsequence.
#include "interp/step_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "interp/probe.hpp"
#include "mir/codes/limits.hpp"

namespace mir {

namespace {

/// More pairs of steps than this are not tried.
constexpr std::size_t kMostPairs = std::size_t{1} << 22;

std::vector<std::string> keys_of(const Schedule& schedule) {
  const ResultPlaces places(schedule);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < schedule.steps().size(); ++i) {
    const Op& op = *schedule.steps()[i].op;
    const ResultPlace place = op.result_count() == 0 ? ResultPlace() : places.of(i, 0);
    keys.push_back(
        fmt::format("{} @{}#{} {}", op.name(), place.graph, place.activation, op.result_count()));
  }
  return keys;
}

bool same_outline(const Schedule& a, const Schedule& b) {
  return std::ranges::equal(a.steps(), b.steps(), [](const Step& x, const Step& y) {
    return x.op->result_count() == y.op->result_count();
  });
}

/// Lengths of the longest common sequences of the ends of `a` and `b`: entry (i, j) is that of
/// a[i..] and b[j..].
class CommonLengths {
 public:
  CommonLengths(std::span<const std::string> a, std::span<const std::string> b)
      : columns_(b.size() + 1), lengths_((a.size() + 1) * columns_, 0) {
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        at(i, j) = a[i] == b[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  std::uint32_t& at(std::size_t i, std::size_t j) { return lengths_[i * columns_ + j]; }

 private:
  std::size_t columns_;
  std::vector<std::uint32_t> lengths_;
};

}  // namespace

Result<std::vector<std::size_t>> pair_steps(const Schedule& a, const Schedule& b) {
  std::vector<std::size_t> pairs(a.steps().size(), kNoStep);
  if (same_outline(a, b)) {
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = i;
    return pairs;
  }
  const std::vector<std::string> x = keys_of(a), y = keys_of(b);
  const std::size_t shorter = std::min(x.size(), y.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && x[head] == y[head]) ++head;
  while (tail < shorter - head && x[x.size() - 1 - tail] == y[y.size() - 1 - tail]) ++tail;
  const std::size_t rows = x.size() - head - tail, columns = y.size() - head - tail;
  if (rows != 0 && columns > kMostPairs / rows) {
    return Error{diag::kLimitExceeded,
                 fmt::format("{} and {} differ in {} and {} steps, too many to tell which agree",
                             a.title(), b.title(), rows, columns)};
  }
  for (std::size_t i = 0; i < head; ++i) pairs[i] = i;
  for (std::size_t i = 0; i < tail; ++i) pairs[x.size() - 1 - i] = y.size() - 1 - i;
  const std::span<const std::string> own(x), other(y);
  CommonLengths lengths(own.subspan(head, rows), other.subspan(head, columns));
  for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
    if (x[head + i] == y[head + j]) {
      pairs[head + i++] = head + j++;
    } else if (lengths.at(i + 1, j) >= lengths.at(i, j + 1)) {
      ++i;
    } else {
      ++j;
    }
  }
  return pairs;
}

}  // namespace mir

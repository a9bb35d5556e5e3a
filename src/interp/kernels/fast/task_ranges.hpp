// The tasks of a loop, shared out between threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace mir::fast {

/// Consecutive tasks, first <= task < end.
struct TaskSpan {
  std::int64_t first = 0;
  std::int64_t end = 0;

  bool is_empty() const { return first >= end; }
};

/// Every thread starts with an equal part of consecutive tasks and takes them in order, so that
/// what neighbouring tasks read, a matrix say, goes past a thread in one stream. A thread that has
/// none left takes the last half of another's, so a thread that is late holds nothing up.
class TaskRanges {
 public:
  TaskRanges() = default;
  explicit TaskRanges(unsigned threads) : ranges_(threads) {}

  /// While no thread takes.
  void start(std::int64_t count) {
    count_ = count;
    at_once_ = (count + kMostUnits - 1) / kMostUnits;
    const auto units = static_cast<std::uint64_t>((count + at_once_ - 1) / at_once_);
    const std::uint64_t threads = ranges_.size();
    for (std::uint64_t i = 0; i < threads; ++i) {
      ranges_[i].set(units * i / threads, units * (i + 1) / threads);
    }
  }

  /// Tasks for `thread`: mostly one. Empty when none is left.
  TaskSpan take(unsigned thread) {
    do {
      if (std::int64_t unit = 0; ranges_[thread].take(unit)) {
        return {unit * at_once_, std::min(count_, (unit + 1) * at_once_)};
      }
    } while (find(thread));
    return {};
  }

 private:
  /// Both ends in one word, 32 bits each.
  class Range {
   public:
    void set(std::uint64_t first, std::uint64_t end) {
      range_.store(first << 32 | end, std::memory_order_relaxed);
    }

    bool take(std::int64_t& unit) {
      std::uint64_t range = range_.load(std::memory_order_relaxed);
      do {
        if (first(range) >= end(range)) return false;
      } while (!replace(range, first(range) + 1, end(range)));
      unit = static_cast<std::int64_t>(first(range));
      return true;
    }

    /// The last half goes to `to`, which is empty.
    bool give_half(Range& to) {
      std::uint64_t range = range_.load(std::memory_order_relaxed);
      std::uint64_t middle = 0;
      do {
        if (first(range) >= end(range)) return false;
        middle = (first(range) + end(range)) / 2;
      } while (!replace(range, first(range), middle));
      to.set(middle, end(range));
      return true;
    }

   private:
    static std::uint64_t first(std::uint64_t range) { return range >> 32; }
    static std::uint64_t end(std::uint64_t range) { return range & 0xffffffff; }
    /// If `range` is what it was; otherwise that is read again.
    bool replace(std::uint64_t& range, std::uint64_t first, std::uint64_t end) {
      return range_.compare_exchange_weak(range, first << 32 | end, std::memory_order_relaxed);
    }

    alignas(64) std::atomic<std::uint64_t> range_{0};
  };

  /// Of more tasks some are taken at once.
  static constexpr std::int64_t kMostUnits = 0xffffffff;

  bool find(unsigned thread) {
    const auto threads = static_cast<unsigned>(ranges_.size());
    for (unsigned i = 1; i < threads; ++i) {
      if (ranges_[(thread + i) % threads].give_half(ranges_[thread])) return true;
    }
    return false;
  }

  std::int64_t count_ = 0, at_once_ = 1;
  std::vector<Range> ranges_;
};

}  // namespace mir::fast

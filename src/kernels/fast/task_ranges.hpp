// The tasks of a loop, shared out between threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mir::fast {

/// Consecutive tasks, first <= task < end.
struct TaskSpan {
  std::int64_t first = 0;
  std::int64_t end = 0;

  bool is_empty() const { return first >= end; }
};

/// Every thread starts with an equal part of consecutive tasks and takes them in order, so that a
/// thread reads the data of neighbouring tasks, such as a matrix, in one stream. A thread without
/// tasks steals the last half of another's range, so that a late thread delays nothing.
class TaskRanges {
 public:
  /// Before the first loop.
  void set_threads(unsigned threads) { ranges_ = std::vector<Range>(threads); }

  /// While no thread takes.
  void start(std::int64_t count) {
    count_ = count;
    at_once_ = (count + kMostUnits - 1) / kMostUnits;
    const auto units = static_cast<std::uint64_t>((count + at_once_ - 1) / at_once_);
    const std::uint64_t threads = ranges_.size();
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      ranges_[i].set(units * i / threads, units * (i + 1) / threads);
    }
  }

  /// Tasks for `thread`: mostly one. Empty when none is left.
  TaskSpan take(unsigned thread) {
    do {
      if (const auto unit = ranges_[thread].take()) {
        return {*unit * at_once_, std::min(count_, (*unit + 1) * at_once_)};
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

    std::optional<std::int64_t> take() {
      std::uint64_t range = range_.load(std::memory_order_relaxed);
      do {
        if (first(range) >= end(range)) return std::nullopt;
      } while (!replace(range, first(range) + 1, end(range)));
      return static_cast<std::int64_t>(first(range));
    }

    /// Moves the last half to `to`, which is empty. During the move it is in no range.
    bool give_half(Range& to, std::atomic<std::uint64_t>& begun,
                   std::atomic<std::uint64_t>& finished) {
      std::uint64_t range = range_.load(std::memory_order_acquire);
      if (first(range) >= end(range)) return false;
      begun.fetch_add(1, std::memory_order_relaxed);
      std::uint64_t middle = 0;
      bool is_given = false;
      do {
        if (first(range) >= end(range)) break;
        middle = (first(range) + end(range)) / 2;
        is_given = replace(range, first(range), middle);
      } while (!is_given);
      if (is_given) to.set(middle, end(range));
      finished.fetch_add(1, std::memory_order_release);
      return is_given;
    }

   private:
    static std::uint64_t first(std::uint64_t range) { return range >> 32; }
    static std::uint64_t end(std::uint64_t range) { return range & 0xffffffff; }
    /// If `range` is what it was; otherwise that is read again.
    bool replace(std::uint64_t& range, std::uint64_t first, std::uint64_t end) {
      return range_.compare_exchange_weak(range, first << 32 | end, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
    }

    alignas(64) std::atomic<std::uint64_t> range_{0};
  };

  /// Largest number of units; of more tasks, several form a unit.
  static constexpr std::int64_t kMostUnits = 0xffffffff;

  /// Nothing is left when all ranges were empty after every move that began had come to its end.
  bool find(unsigned thread) {
    const auto threads = static_cast<unsigned>(ranges_.size());
    std::uint64_t finished = 0;
    do {
      finished = moves_finished_.load(std::memory_order_acquire);
      for (unsigned i = 1; i < threads; ++i) {
        Range& other = ranges_[(thread + i) % threads];
        if (other.give_half(ranges_[thread], moves_begun_, moves_finished_)) return true;
      }
    } while (moves_begun_.load(std::memory_order_relaxed) != finished);
    return false;
  }

  alignas(64) std::atomic<std::uint64_t> moves_begun_{0};
  std::atomic<std::uint64_t> moves_finished_{0};
  std::int64_t count_ = 0, at_once_ = 1;
  std::vector<Range> ranges_;
};

}  // namespace mir::fast

// How loops and memory are divided.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/fast/chunks.hpp"
#include "kernels/fast/large_pages.hpp"
#include "kernels/fast/task_ranges.hpp"

namespace mir::fast {
namespace {

TEST_SUITE_BEGIN("fast kernels");

TEST_CASE("a loop is cut into as few equal parts as its limit permits") {
  for (const std::int64_t total : {1, 2, 7, 24, 25, 63, 64, 65, 1000}) {
    for (const std::int64_t most : {-1, 0, 1, 2, 7, 24, 64, 999, 1000, 5000}) {
      for (const std::int64_t unit : {1, 8, 24}) {
        CAPTURE(total);
        CAPTURE(most);
        CAPTURE(unit);
        const Chunks chunks = cut(total, most, unit);
        CHECK(chunks.total == total);
        CHECK(chunks.size % unit == 0);
        // One part less would leave something out, or be larger than the limit in whole units.
        CHECK((chunks.count - 1) * chunks.size < total);
        CHECK(chunks.count * chunks.size >= total);
        const std::int64_t limit = std::max<std::int64_t>(most, 1);
        CHECK(chunks.size < limit + unit);
        if (unit == 1) {
          CHECK(chunks.count == (total + chunks.size - 1) / chunks.size);
          const std::int64_t fewest = (total + limit - 1) / limit;
          CHECK(chunks.size == (total + fewest - 1) / fewest);
        }
        std::int64_t covered = 0;
        for (std::int64_t i = 0; i < chunks.count; ++i) {
          CHECK(chunks.first(i) == covered);
          CHECK(chunks.length(i) > 0);
          covered += chunks.length(i);
        }
        CHECK(covered == total);
      }
    }
  }
  for (const std::int64_t none : {0, -1}) CHECK(cut(none, 5, 8).count == 0);
}

TEST_CASE("threads begin with equal parts of the tasks, in order") {
  TaskRanges tasks;
  tasks.set_threads(4);
  tasks.start(10);
  std::vector<std::int64_t> firsts;
  for (unsigned thread = 0; thread < 4; ++thread) {
    const TaskSpan span = tasks.take(thread);
    CHECK(span.end == span.first + 1);
    firsts.push_back(span.first);
  }
  CHECK(firsts == std::vector<std::int64_t>{0, 2, 5, 7});
}

TEST_CASE("more tasks than 32 bits can count are taken several at once") {
  for (const std::int64_t count :
       {0xffffffffLL, 0x100000000LL, 0x1fffffffeLL, 0x1ffffffffLL, (1LL << 40) + 5}) {
    CAPTURE(count);
    const std::int64_t at_once = count <= 0xffffffffLL    ? 1
                                 : count <= 0x1fffffffeLL ? 2
                                 : count <= 0x2fffffffdLL ? 3
                                                          : 257;
    constexpr unsigned kThreads = 1U << 16;
    TaskRanges tasks;
    tasks.set_threads(kThreads);
    tasks.start(count);
    CHECK(tasks.take(0).end == at_once);
    // The last thread's own tasks end where all do.
    std::int64_t end = tasks.take(kThreads - 1).end;
    bool is_in_order = true;
    while (end < count && is_in_order) {
      const TaskSpan span = tasks.take(kThreads - 1);
      is_in_order = span.first == end && span.end > end && span.end <= end + at_once;
      end = span.end;
    }
    CHECK(is_in_order);
    CHECK(end == count);
  }
}

TEST_CASE("memory from the system is as large as asked for, and aligned") {
  constexpr std::size_t kLarge = std::size_t{2} << 20;
  for (const std::size_t bytes : {std::size_t{1}, kLarge - 1, kLarge, kLarge + 1, 3 * kLarge}) {
    CAPTURE(bytes);
    LargePages pages(bytes);
    REQUIRE(pages.size() == bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(pages.data());
    CHECK(address % (bytes < kLarge ? 4096 : kLarge) == 0);
    CHECK(pages.data()[0] == std::byte{0});
    CHECK(pages.data()[bytes - 1] == std::byte{0});
    pages.data()[bytes - 1] = std::byte{7};

    LargePages other(std::move(pages));
    CHECK(other.data()[bytes - 1] == std::byte{7});
    CHECK(pages.size() == 0);
    LargePages third;
    third = std::move(other);
    CHECK(third.size() == bytes);
    CHECK(third.data()[bytes - 1] == std::byte{7});
  }
  CHECK(LargePages(0).size() == 0);
  CHECK(LargePages(SIZE_MAX).size() == 0);
  CHECK(LargePages(SIZE_MAX / 2 + 1).size() == 0);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::fast

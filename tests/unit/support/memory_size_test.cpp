#include "support/memory_size.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using mir::memory_size;

TEST_CASE("a size that addresses cannot hold becomes the largest and never a small one") {
  constexpr std::uint64_t kFourGib = std::uint64_t{1} << 32;
  CHECK(memory_size<std::uint32_t>(kFourGib - 1) == 0xffffffff);
  CHECK(memory_size<std::uint32_t>(kFourGib) == 0xffffffff);
  CHECK(memory_size<std::uint32_t>(kFourGib + 64) == 0xffffffff);
  CHECK(memory_size<std::uint32_t>(1000) == 1000);
  CHECK(memory_size<std::uint64_t>(std::numeric_limits<std::uint64_t>::max()) ==
        std::numeric_limits<std::uint64_t>::max());
}

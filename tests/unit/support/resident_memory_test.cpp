#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstring>

#include "support/platform/memory.hpp"

namespace mir::test::resident_memory {

namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20;
/// What other threads and the allocator may add meanwhile.
constexpr std::uint64_t kSlack = std::uint64_t{16} << 20;

/// The memory of the process while it holds kBytes more, all written.
ResidentMemory with_more() {
  void* const more =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(more != MAP_FAILED);
  std::memset(more, 1, kBytes);
  const auto memory = mir::resident_memory();
  ::munmap(more, kBytes);
  REQUIRE(memory);
  return *memory;
}

}  // namespace

TEST_CASE("memory that is written is resident, and the peak remembers it until it starts anew") {
  const auto before = mir::resident_memory();
  REQUIRE(before);
  CHECK(before->peak >= before->now);
  const ResidentMemory more = with_more();
  CHECK(more.now + kSlack >= before->now + kBytes);
  const auto after = mir::resident_memory();
  REQUIRE(after);
  CHECK(after->now < more.now - kBytes + kSlack);
  CHECK(after->peak + kSlack >= more.now);
  if (!restart_resident_peak()) return;  // a system that does not let processes do that
  const auto anew = mir::resident_memory();
  REQUIRE(anew);
  CHECK(anew->peak < more.now - kBytes + kSlack);
}

}  // namespace mir::test::resident_memory

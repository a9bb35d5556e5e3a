#include "support/last_uses.hpp"

#include <doctest/doctest.h>

using namespace mir;
using Steps = std::vector<std::vector<std::uint32_t>>;

TEST_CASE("a thing ends at its last use, what is kept or never used at none") {
  LastUses uses;
  uses.use(4, 0);
  uses.use(1, 0);
  uses.use(4, 2);
  uses.use(0, 2);
  uses.use(2, 1);
  uses.keep(2);
  uses.keep(7);
  CHECK(uses.of(4) == 2);
  CHECK(uses.of(1) == 0);
  CHECK(uses.of(2) == LastUses::kNone);
  CHECK(uses.of(3) == LastUses::kNone);
  CHECK(uses.of(99) == LastUses::kNone);
  CHECK(uses.is_used(2));
  CHECK_FALSE(uses.is_used(3));
  CHECK_FALSE(uses.is_used(7));
  CHECK(uses.by_step(4) == Steps{{1}, {}, {0, 4}, {}});
}

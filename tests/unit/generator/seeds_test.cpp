// The share of seeds that properties try.
#include "../seeds.hpp"

#include <doctest/doctest.h>

using mir::test::About;
using mir::test::share_of_seeds;

TEST_CASE("properties try a quarter of their seeds, and fewer results under sanitizers") {
  CHECK(share_of_seeds(400, About::kResults, false) == 100);
  CHECK(share_of_seeds(400, About::kMemory, false) == 100);
  CHECK(share_of_seeds(400, About::kResults, true) == 25);
  CHECK(share_of_seeds(400, About::kMemory, true) == 50);
}

TEST_CASE("properties try at least ten seeds, or all if there are fewer") {
  CHECK(share_of_seeds(100, About::kResults, true) == 10);
  CHECK(share_of_seeds(12, About::kMemory, false) == 10);
  CHECK(share_of_seeds(6, About::kResults, true) == 6);
  CHECK(share_of_seeds(0, About::kMemory, false) == 0);
}

// What tests say of numbers that are not close.
#include "../numeric.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace mir::test;

TEST_CASE("numbers beyond their bounds are said once: index, found, expected, bound") {
  using List = std::vector<double>;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK(not_within(0.5, List{1, 2, 3}, List{1, 2.5, 3}) == "");
  CHECK(not_within(0.5, List{1, 2, 3}, List{1, 2.75, 4}) ==
        "2 of 3 are beyond their bounds, [2] farthest: found 3, expected 4, bound 0.5");
  CHECK(not_within(0.5, List{1}, List{1, 2}) == "1 elements found, 2 expected");
  CHECK(not_within(0.5, List{kNan, kNan}, List{kNan, 2}) ==
        "1 of 2 are beyond their bounds, [1] farthest: found nan, expected 2, bound 0.5");
  CHECK(not_close(0.01, List{100, 0.001}, List{101, 0}) == "");
  CHECK(not_close(0.01, List{100, 0.1}, List{101, 0}) ==
        "1 of 2 are beyond their bounds, [1] farthest: found 0.1, expected 0, bound 0.01");
}

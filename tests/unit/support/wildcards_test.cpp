#include "support/wildcards.hpp"

#include <doctest/doctest.h>

#include <string>

using mir::fits_wildcards;

TEST_CASE("a pattern has stars and question marks") {
  CHECK(fits_wildcards("", ""));
  CHECK(fits_wildcards("*", ""));
  CHECK(fits_wildcards("*", "a.b"));
  CHECK(fits_wildcards("a*c", "abbc"));
  CHECK(fits_wildcards("a*b*c", "a1b2b3c"));
  CHECK(fits_wildcards("?.?", "a.b"));
  CHECK_FALSE(fits_wildcards("?", ""));
  CHECK_FALSE(fits_wildcards("a*c", "abbd"));
  CHECK_FALSE(fits_wildcards("a", "ab"));
  CHECK_FALSE(fits_wildcards("ab", "a"));
  // No backtracking beyond the last star: linear in the name for each character of the selector.
  CHECK_FALSE(fits_wildcards(std::string("*a*a*a*a*a*a*a*a*b"), std::string(20'000, 'a')));
}

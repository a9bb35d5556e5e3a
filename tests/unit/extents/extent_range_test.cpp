// Ranges of extents by interval arithmetic, against values and at the limits of 64 bits.
#include "extents/extent_range.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "mir/dim.hpp"

using namespace mir;

namespace extent_range_test {

namespace {

constexpr std::int64_t kOpenLeast = ExtentRange().least, kOpenMost = ExtentRange().most;
using Ranges = std::map<std::string, ExtentRange>;

std::optional<ExtentRange> range(std::string_view text, const Ranges& symbols) {
  StringInterner strings;
  DimTable dims(strings);
  const auto dim = dims.parse(text);
  INFO(text);
  REQUIRE_MESSAGE(dim, dim.error().message);
  REQUIRE(dim->expr() != nullptr);
  return range_of(polynomial_of(dim->expr()),
                  [&](Symbol symbol) { return symbols.at(std::string(strings.text(symbol))); });
}

std::string text_of(const std::optional<ExtentRange>& range) {
  if (!range) return "none";
  return (range->has_least() ? std::to_string(range->least) : "open") + " to " +
         (range->has_most() ? std::to_string(range->most) : "open");
}

}  // namespace

TEST_SUITE("extent ranges") {
  TEST_CASE("the range of an expression is that of all values of its symbols") {
    const Ranges symbols = {{"S", {2, 5}}, {"T", {3, 9}}, {"Z", {0, 1}}};
    for (const std::string text :
         {"$S+$T", "$S-$T", "2*$S+1", "7-3*$S", "$S*$T", "0-$S*$T", "$S*$T*$T", "$S/$T", "$T/2",
          "$T/$S+$Z", "$S*($T/2)", "$Z*$S", "3-$Z"}) {
      CAPTURE(text);
      StringInterner strings;
      DimTable dims(strings);
      const auto dim = dims.parse(text);
      REQUIRE(dim);
      ExtentRange exact = {kOpenMost, kOpenLeast};
      for (std::int64_t s = 2; s <= 5; ++s) {
        for (std::int64_t t = 3; t <= 9; ++t) {
          for (std::int64_t z = 0; z <= 1; ++z) {
            DimBindings values;
            values.bind(strings.intern("S"), s);
            values.bind(strings.intern("T"), t);
            values.bind(strings.intern("Z"), z);
            const auto value = dims.evaluate(*dim, values);
            if (!value) continue;  // negative
            exact = {std::min(exact.least, *value), std::max(exact.most, *value)};
          }
        }
      }
      const auto found = range(text, symbols);
      REQUIRE(found);
      CHECK(found->least <= exact.least);
      CHECK(found->most == exact.most);
      if (exact.least > 0) CHECK(found->least == exact.least);
    }
    CHECK(text_of(range("$S-$T", symbols)) == "-7 to 2");
    CHECK(text_of(range("7-3*$S", symbols)) == "-8 to 1");
    CHECK(text_of(range("0-$S*$T", symbols)) == "-45 to -6");
    CHECK(text_of(range("$S*$T/$Z", symbols)) == "none");  // by 0
  }

  TEST_CASE("an end that is open stays open") {
    const Ranges symbols = {{"S", {1, kOpenMost}}, {"T", {2, 3}}, {"Z", {0, 0}}, {"U", {0, 7}}};
    CHECK(text_of(range("$S+3", symbols)) == "4 to open");
    CHECK(text_of(range("$S+$T", symbols)) == "3 to open");
    CHECK(text_of(range("3-$S", symbols)) == "open to 2");
    CHECK(text_of(range("$T-2*$S", symbols)) == "open to 1");
    CHECK(text_of(range("$S-$U", symbols)) == "-6 to open");
    CHECK(text_of(range("$S*$T", symbols)) == "2 to open");
    CHECK(text_of(range("$S*$Z", symbols)) == "0 to 0");
    CHECK(text_of(range("$S*$U", symbols)) == "0 to open");
    CHECK(text_of(range("($S+5)/$T", symbols)) == "2 to open");
    CHECK(text_of(range("$U/$S", symbols)) == "0 to 7");
  }

  TEST_CASE("a bound beyond 64 bits is no range, or an open end of a product") {
    constexpr std::int64_t kHalf = std::int64_t{1} << 62;
    const auto sum = [](std::int64_t s, std::int64_t t) {
      return text_of(range("$S+$T", {{"S", {0, s}}, {"T", {0, t}}}));
    };
    CHECK(sum(kHalf, kHalf - 2) == "0 to 9223372036854775806");
    CHECK(sum(kHalf, kHalf) == "none");
    CHECK(text_of(range("$S+$T", {{"S", {kHalf, kHalf}}, {"T", {kHalf, kOpenMost}}})) == "none");
    CHECK(text_of(range("0-$S-$T", {{"S", {0, kHalf}}, {"T", {0, kHalf - 1}}})) ==
          "-9223372036854775807 to 0");
    CHECK(text_of(range("0-$S-$T", {{"S", {0, kHalf}}, {"T", {0, kHalf + 1}}})) == "none");
    CHECK(text_of(range("$S*$T", {{"S", {3, std::int64_t{1} << 32}},
                                  {"T", {2, std::int64_t{1} << 31}}})) == "6 to open");
    CHECK(text_of(range("$S*$T", {{"S", {std::int64_t{1} << 32, kHalf}},
                                  {"T", {std::int64_t{1} << 31, kHalf}}})) == "none");
  }
}

}  // namespace extent_range_test

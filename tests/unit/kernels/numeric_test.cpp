#include "kernels/ref/numeric.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <initializer_list>

#include "../seeds.hpp"

namespace mir::ref {
namespace {

TEST_SUITE_BEGIN("kernels");

TEST_CASE("every half and every bfloat16 survives widening and narrowing") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const double half = widen(Half{pattern});
    const double brain = widen(BFloat16{pattern});
    CAPTURE(bits);
    if (half == half) REQUIRE(narrow_to_half(half).bits == pattern);
    if (half != half) REQUIRE(narrow_to_half(half).bits == 0x7e00);
    if (brain == brain) REQUIRE(narrow_to_bfloat16(brain).bits == pattern);
    if (brain != brain) REQUIRE(narrow_to_bfloat16(brain).bits == 0x7fc0);
  }
}

TEST_CASE("narrowing goes to the nearest value and breaks ties to even") {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = widen(Half{static_cast<std::uint16_t>(bits)});
    const double high = widen(Half{static_cast<std::uint16_t>(bits + 1)});
    const double middle = (low + high) / 2;
    const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    CAPTURE(bits);
    REQUIRE(narrow_to_half(middle).bits == even);
    REQUIRE(narrow_to_half(-middle).bits == (even | 0x8000));
    REQUIRE(narrow_to_half(std::nextafter(middle, 0.0)).bits == bits);
    REQUIRE(narrow_to_half(std::nextafter(middle, 1e6)).bits == bits + 1);
  }
}

TEST_CASE("bfloat16 agrees with rounding the upper half of a float") {
  for (std::uint64_t bits = 0; bits < 0x7f800000; bits += 0x1235 * mir::test::kCaseStride) {
    const auto pattern = static_cast<std::uint32_t>(bits);
    const std::uint32_t rounded = (pattern + 0x7fff + (pattern >> 16 & 1)) >> 16;
    CAPTURE(bits);
    REQUIRE(narrow_to_bfloat16(std::bit_cast<float>(pattern)).bits == rounded);
  }
}

TEST_CASE("values beyond the largest finite one overflow from half a unit on") {
  CHECK(narrow_to_half(65504.0).bits == 0x7bff);
  CHECK(narrow_to_half(65519.9).bits == 0x7bff);
  CHECK(narrow_to_half(65520.0).bits == 0x7c00);
  CHECK(narrow_to_half(-1e300).bits == 0xfc00);
  CHECK(narrow_to_bfloat16(3.4e38).bits == 0x7f80);
}

TEST_CASE("subnormals and zeros keep their sign") {
  CHECK(narrow_to_half(-0.0).bits == 0x8000);
  CHECK(narrow_to_half(0x1p-24).bits == 0x0001);
  CHECK(narrow_to_half(0x1p-25).bits == 0x0000);
  CHECK(narrow_to_half(-0x1.8p-25).bits == 0x8001);
  CHECK(narrow_to_half(0x1p-1074).bits == 0x0000);
  CHECK(narrow_to_bfloat16(0x1p-133).bits == 0x0001);
}

TEST_CASE("the 8-bit floats are those of OCP FP8") {
  const auto e4m3 = [](std::uint8_t bits) { return widen(Float8E4M3{bits}); };
  const auto e5m2 = [](std::uint8_t bits) { return widen(Float8E5M2{bits}); };
  CHECK(e4m3(0x01) == 0x1p-9);
  CHECK(e4m3(0x08) == 0x1p-6);
  CHECK(e4m3(0x38) == 1.0);
  CHECK(e4m3(0x77) == 240.0);
  CHECK(e4m3(0x78) == 256.0);
  CHECK(e4m3(0xfe) == -448.0);
  CHECK(std::isnan(e4m3(0x7f)));
  CHECK(std::isnan(e4m3(0xff)));
  CHECK(e5m2(0x01) == 0x1p-16);
  CHECK(e5m2(0x04) == 0x1p-14);
  CHECK(e5m2(0x3c) == 1.0);
  CHECK(e5m2(0xfb) == -57344.0);
  CHECK(std::isinf(e5m2(0x7c)));
  for (int bits = 0x7d; bits <= 0x7f; ++bits)
    CHECK(std::isnan(e5m2(static_cast<std::uint8_t>(bits))));
}

/// Checks narrowing of T at every value, at every midpoint between neighbours and beside it.
template <class T, class Narrow>
void check_narrowing(Narrow narrow, std::uint8_t largest) {
  for (int bits = 0; bits <= largest; ++bits) {
    CAPTURE(bits);
    const auto pattern = static_cast<std::uint8_t>(bits);
    const double low = widen(T{pattern});
    REQUIRE(narrow(low).bits == pattern);
    REQUIRE(narrow(-low).bits == (pattern | 0x80));
    if (bits == largest) break;
    const double middle = (low + widen(T{static_cast<std::uint8_t>(bits + 1)})) / 2;
    const int even = bits % 2 == 0 ? bits : bits + 1;
    REQUIRE(narrow(middle).bits == even);
    REQUIRE(narrow(-middle).bits == (even | 0x80));
    REQUIRE(narrow(std::nextafter(middle, 0.0)).bits == bits);
    REQUIRE(narrow(std::nextafter(middle, 1e9)).bits == bits + 1);
  }
}

TEST_CASE("8-bit floats round to the nearest value, ties to even, for every value and midpoint") {
  check_narrowing<Float8E4M3>(narrow_to_float8_e4m3, 0x7e);
  check_narrowing<Float8E5M2>(narrow_to_float8_e5m2, 0x7b);
}

TEST_CASE("the ends of 8-bit floats: E4M3 saturates, E5M2 overflows") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {448.1, 464.0, 1e300, infinity}) {
    CHECK(narrow_to_float8_e4m3(x).bits == 0x7e);
    CHECK(narrow_to_float8_e4m3(-x).bits == 0xfe);
  }
  CHECK(narrow_to_float8_e4m3(-std::nan("")).bits == 0x7f);
  CHECK(narrow_to_float8_e5m2(61439.9).bits == 0x7b);
  CHECK(narrow_to_float8_e5m2(61440.0).bits == 0x7c);
  CHECK(narrow_to_float8_e5m2(-infinity).bits == 0xfc);
  CHECK(narrow_to_float8_e5m2(-std::nan("")).bits == 0x7e);
  CHECK(narrow_to_float8_e4m3(0x1p-1074).bits == 0);
  CHECK(narrow_to_float8_e5m2(-0x1p-1074).bits == 0x80);
}

TEST_CASE("a half is rounded once even where a float in between would round twice") {
  // 1 + 2^-11 is a tie; the last term breaks it upwards but is lost in a float.
  const double value = 1.0 + 0x1p-11 + 0x1p-40;
  CHECK(narrow_to_half(value).bits == 0x3c01);
  CHECK(narrow_to_half(static_cast<double>(static_cast<float>(value))).bits == 0x3c00);
}

TEST_CASE("every stored NaN is the positive quiet one") {
  const double odd = std::bit_cast<double>(0xfff8000000000123u);
  CHECK(std::bit_cast<std::uint32_t>(store<float>(odd)) == 0x7fc00000);
  CHECK(std::bit_cast<std::uint64_t>(store<double>(odd)) == 0x7ff8000000000000);
}

TEST_CASE("truncation saturates") {
  CHECK(truncate_to<std::int8_t>(127.9) == 127);
  CHECK(truncate_to<std::int8_t>(128.0) == 127);
  CHECK(truncate_to<std::int8_t>(-128.9) == -128);
  CHECK(truncate_to<std::int8_t>(-1.9) == -1);
  CHECK(truncate_to<std::uint8_t>(-0.9) == 0);
  CHECK(truncate_to<std::uint8_t>(-5.0) == 0);
  CHECK(truncate_to<std::uint64_t>(0x1p63) == 0x8000000000000000u);
  CHECK(truncate_to<std::uint64_t>(1e30) == UINT64_MAX);
  CHECK(truncate_to<std::int64_t>(1e30) == INT64_MAX);
  CHECK(truncate_to<std::int64_t>(-0x1p63) == INT64_MIN);
  CHECK(truncate_to<std::int32_t>(std::nan("")) == 0);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref

#include "weights/elements.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "mir/codes/tensors.hpp"
#include "temporary.hpp"

using namespace mir;
using mir::test::tensor_of;

TEST_CASE("every binary16 value survives the way to double and back") {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double value = f16_to_double(half);
    // A signalling NaN comes back quiet.
    const auto expected = std::isnan(value) ? static_cast<std::uint16_t>(half | 0x200) : half;
    REQUIRE(f16_from_double(value) == expected);
  }
}

TEST_CASE("every bfloat16 value survives the way to double and back") {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const auto brain = static_cast<std::uint16_t>(bits);
    const double value = bf16_to_double(brain);
    const auto expected = std::isnan(value) ? static_cast<std::uint16_t>(brain | 0x40) : brain;
    REQUIRE(bf16_from_double(value) == expected);
  }
}

TEST_CASE("binary16 rounds to nearest even at every midpoint and beside it") {
  for (std::uint16_t bits = 0; bits < 0x7BFF; ++bits) {
    const double low = f16_to_double(bits);
    const double high = f16_to_double(static_cast<std::uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    REQUIRE(f16_from_double(middle) == (bits % 2 == 0 ? bits : bits + 1));
    REQUIRE(f16_from_double(std::nextafter(middle, 0)) == bits);
    REQUIRE(f16_from_double(std::nextafter(middle, 1e9)) == bits + 1);
    REQUIRE(f16_from_double(-middle) == (0x8000 | (bits % 2 == 0 ? bits : bits + 1)));
  }
}

TEST_CASE("8-bit floats survive the way to double and back, and round to nearest even") {
  for (int bits = 0; bits <= 0xFF; ++bits) {
    const auto pattern = static_cast<std::uint8_t>(bits);
    CAPTURE(bits);
    const double e5m2 = f8_e5m2_to_double(pattern), e4m3 = f8_e4m3_to_double(pattern);
    // A signalling NaN comes back quiet.
    REQUIRE(f8_e5m2_from_double(e5m2) == (std::isnan(e5m2) ? pattern | 2 : pattern));
    REQUIRE(f8_e4m3_from_double(e4m3) == pattern);
    if (bits >= 0x7B) continue;
    const int even = bits % 2 == 0 ? bits : bits + 1;
    const auto next = static_cast<std::uint8_t>(bits + 1);
    const double middle = (e5m2 + f8_e5m2_to_double(next)) / 2;
    REQUIRE(f8_e5m2_from_double(middle) == even);
    REQUIRE(f8_e5m2_from_double(std::nextafter(middle, 1e9)) == bits + 1);
    const double other = (e4m3 + f8_e4m3_to_double(next)) / 2;
    REQUIRE(f8_e4m3_from_double(-other) == (even | 0x80));
    REQUIRE(f8_e4m3_from_double(std::nextafter(other, 0)) == bits);
  }
  CHECK(f8_e4m3_to_double(0x7E) == 448);
  CHECK(f8_e4m3_from_double(1e9) == 0x7E);
  CHECK(f8_e4m3_from_double(-std::numeric_limits<double>::infinity()) == 0xFE);
  CHECK(f8_e5m2_to_double(0x7B) == 57344);
  CHECK(f8_e5m2_from_double(61440) == 0x7C);
}

TEST_CASE("what is too large for a narrow float becomes an infinity") {
  CHECK(f16_from_double(65504) == 0x7BFF);
  CHECK(f16_from_double(65519.999) == 0x7BFF);
  CHECK(f16_from_double(65520) == 0x7C00);
  CHECK(f16_from_double(-1e300) == 0xFC00);
  CHECK(bf16_from_double(std::numeric_limits<float>::max()) == 0x7F80);
  CHECK(f16_from_double(0x1p-25) == 0);
  CHECK(f16_from_double(0x1.8p-25) == 1);
  CHECK(f16_from_double(-5e-324) == 0x8000);
}

TEST_CASE("float tensors convert with one rounding") {
  // Twice rounded, through float, this value would become 1 + 2^-9 in binary16.
  const double tie = 1 + 0x1p-11 + 0x1p-40;
  const auto source = tensor_of<double>(DType::kFloat64, {2}, {tie, -0.1});
  const auto half = convert_floats(source, DType::kFloat16);
  REQUIRE(half);
  CHECK(half->as<std::uint16_t>()[0] == 0x3C01);
  const auto single = convert_floats(source, DType::kFloat32);
  REQUIRE(single);
  CHECK(single->as<float>()[1] == -0.1f);
  CHECK(convert_floats(source, DType::kFloat64)->bytes().data() == source.bytes().data());
  const auto refused = convert_floats(source, DType::kInt32);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == diag::kTensorDtypeUnsupported);
}

TEST_CASE(
    "numbers beyond the largest one of a type are counted, and refused unless they are allowed") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  struct Case {
    DType dtype;
    double largest;  ///< the largest number that is rounded to one of the type
    double first;    ///< the first one beyond
    double becomes;  ///< the first one beyond, if it is allowed
  };
  const Case cases[] = {
      {DType::kFloat16, 65519, 65520, kInfinity},
      {DType::kBFloat16, 0x1.fep127, 0x1.ffp127, kInfinity},
      {DType::kFloat8E4M3, 463, 464, 448},
      {DType::kFloat8E5M2, 61439, 61440, kInfinity},
      {DType::kFloat32, 0x1.fffffefp127, 0x1.ffffffp127, kInfinity},
  };
  for (const Case& each : cases) {
    CAPTURE(name_of(each.dtype));
    const auto kept = tensor_of<double>(DType::kFloat64, {3}, {each.largest, -each.largest, kNan});
    CHECK(convert_floats(kept, each.dtype));
    CHECK(convert_floats_with_overflow(kept, each.dtype)->overflows == 0);
    // Float8E4M3 has no infinity.
    const auto infinities = tensor_of<double>(DType::kFloat64, {2}, {kInfinity, -kInfinity});
    CHECK(convert_floats(infinities, each.dtype).ok() == (each.becomes == kInfinity));
    const auto beyond = tensor_of<double>(DType::kFloat64, {4}, {kNan, 1, -each.first, each.first});
    const auto refused = convert_floats(beyond, each.dtype);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == diag::kElementOutOfRange);
    CHECK(refused.error().message.starts_with("2 of 4 elements are beyond the largest "));
    CHECK(refused.error().message.ends_with(" at element 2"));
    const auto allowed = convert_floats_with_overflow(beyond, each.dtype);
    REQUIRE(allowed);
    CHECK(allowed->overflows == 2);
    CHECK(allowed->first_overflow == 2);
    CHECK(element_as_double(allowed->tensor, 2) == -each.becomes);
    CHECK(element_as_double(allowed->tensor, 3) == each.becomes);
  }
}

TEST_CASE("elements are ranked from the largest one, exactly, with NaNs last") {
  constexpr std::int64_t kLarge = std::int64_t{1} << 53;
  const auto signed_row =
      tensor_of<std::int64_t>(DType::kInt64, {4}, {kLarge, kLarge + 1, -kLarge - 1, -kLarge});
  CHECK(is_ranked_before(signed_row, 1, 0));
  CHECK(is_ranked_before(signed_row, 3, 2));
  const auto unsigned_row = tensor_of<std::uint64_t>(DType::kUInt64, {2}, {0, ~std::uint64_t{0}});
  CHECK(is_ranked_before(unsigned_row, 1, 0));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto floats = tensor_of<float>(DType::kFloat32, {5}, {nan, -1, 0.0F, -0.0F, nan});
  CHECK(is_ranked_before(floats, 1, 0));
  CHECK(is_ranked_before(floats, 2, 3));
  CHECK_FALSE(is_ranked_before(floats, 3, 2));
  CHECK(is_ranked_before(floats, 0, 4));
  CHECK_FALSE(is_ranked_before(floats, 4, 0));
}

TEST_CASE("elements are read as numbers of their type") {
  CHECK(element_as_double(tensor_of<std::int8_t>(DType::kInt8PerChannel, {1}, {-3}), 0) == -3);
  CHECK(element_as_double(tensor_of<std::int8_t>(DType::kInt4, {1}, {-8}), 0) == -8);
  CHECK(element_as_double(tensor_of<std::uint8_t>(DType::kByte, {2}, {0, 253}), 1) == 253);
  CHECK(element_as_double(tensor_of<std::uint16_t>(DType::kFloat16, {1}, {0xC000}), 0) == -2);
  CHECK(element_as_double(tensor_of<std::int64_t>(DType::kInt64, {1}, {1 << 20}), 0) == 1 << 20);
}

TEST_CASE("a number becomes the element that a cast of it is") {
  struct Case {
    DType dtype;
    std::string_view text;
    std::uint64_t bits;
  };
  const Case cases[] = {
      {DType::kFloat32, "-0.0", 0x80000000},
      {DType::kFloat32, "-1e-400", 0x80000000},
      {DType::kFloat32, "-nan", 0x7FC00000},
      {DType::kFloat32, "1e39", 0x7F800000},
      {DType::kFloat8E4M3, "-inf", 0xFE},
      {DType::kInt8, "-2.7", 0xFE},
      {DType::kInt8, "1e9", 127},
      {DType::kInt8, "-inf", 0x80},
      {DType::kInt64, "nan", 0},
      {DType::kInt64, "9007199254740993", 9007199254740993},
      {DType::kInt64, "9007199254740993.9", 9007199254740993},
      {DType::kInt64, "1e400", ~std::uint64_t{0} >> 1},
      {DType::kUInt64, "18446744073709551615", ~std::uint64_t{0}},
      {DType::kUInt64, "-1", 0},
      {DType::kBool, "1e-400", 1},
      {DType::kBool, "-0.0", 0},
      {DType::kBool, "true", 1},
  };
  for (const Case& each : cases) {
    CAPTURE(name_of(each.dtype));
    CAPTURE(each.text);
    const auto element = element_of(each.dtype, each.text);
    REQUIRE(element);
    std::uint64_t bits = 0;
    std::memcpy(&bits, element->bytes().data(), element->bytes().size());
    CHECK(bits == each.bits);
  }
  // Types that have no numbers have a zero.
  CHECK(element_of(DType::kComplexFP32, "0"));
  CHECK_FALSE(element_of(DType::kComplexFP32, "1"));
}

TEST_CASE("the text of an element is exact") {
  const Tensor large = tensor_of<std::int64_t>(DType::kInt64, {2}, {9007199254740993, -1});
  CHECK(text_of_element(large, 0) == "9007199254740993");
  CHECK(text_of_element(large, 1) == "-1");
  CHECK(text_of_element(tensor_of<std::uint64_t>(DType::kUInt64, {1}, {~std::uint64_t{0}}), 0) ==
        "18446744073709551615");
  CHECK(text_of_element(tensor_of<float>(DType::kFloat32, {2}, {0.5f, -0.0f}), 1) == "-0");
}

TEST_CASE("an element takes what its type can hold and refuses the rest") {
  struct Case {
    DType dtype;
    std::string text;
    bool fits;
    std::uint64_t bits;
  };
  const Case cases[] = {
      {DType::kInt8, "-128", true, 0xFFFFFFFFFFFFFF80},
      {DType::kInt8, "128", false, 0},
      {DType::kUInt8, "255", true, 255},
      {DType::kUInt8, "-1", false, 0},
      {DType::kUInt8PerTensor, "256", false, 0},
      {DType::kByte, "7", true, 7},
      {DType::kInt64, "9007199254740993", true, 9007199254740993},
      {DType::kInt64, "9007199254740993.0", true, 9007199254740993},
      {DType::kInt64, "-9.007199254740993e15", true, ~std::uint64_t{9007199254740992}},
      {DType::kInt64, "0.0009007199254740993e+19", true, 9007199254740993},
      {DType::kInt64, "9223372036854775808", false, 0},
      {DType::kInt64, "-9223372036854775808", true, std::uint64_t{1} << 63},
      {DType::kInt64, "-9223372036854775809", false, 0},
      {DType::kInt64, "1e-400", false, 0},
      {DType::kInt64, "1e400", false, 0},
      {DType::kInt64, "inf", false, 0},
      {DType::kInt64, "0e999999999999999999999", true, 0},
      {DType::kUInt64, "1.8446744073709551615e19", true, ~std::uint64_t{0}},
      {DType::kUInt64, "-0.0", true, 0},
      {DType::kUInt64, "18446744073709551615", true, ~std::uint64_t{0}},
      {DType::kUInt64, "18446744073709551616", false, 0},
      {DType::kInt32, "1.5", false, 0},
      {DType::kInt32, "1e3", true, 1000},
      {DType::kInt32, "+3", true, 3},
      {DType::kInt32, "+-3", false, 0},
      {DType::kInt32, "true", false, 0},
      {DType::kBool, "true", true, 1},
      {DType::kBool, "2", false, 0},
      {DType::kFloat32, "0.1", true, 0x3DCCCCCD},
      {DType::kFloat32, "1e39", false, 0},
      {DType::kFloat32, "1e-46", true, 0},
      {DType::kFloat64, "1e-400", true, 0},
      {DType::kFloat64, "-0.001e-330", true, std::uint64_t{1} << 63},
      {DType::kFloat64, "1e400", false, 0},
      {DType::kFloat64, "-inf", true, 0xFFF0000000000000},
      {DType::kFloat32, "inf", true, 0x7F800000},
      {DType::kFloat16, "65519", true, 0x7BFF},
      {DType::kFloat16, "65520", false, 0},
      {DType::kBFloat16, "1", true, 0x3F80},
      {DType::kFloat8E4M3, "463", true, 0x7E},
      {DType::kFloat8E4M3, "464", false, 0},
      {DType::kFloat8E4M3, "inf", false, 0},
      {DType::kFloat8E4M3, "nan", true, 0x7F},
      {DType::kFloat8E5M2, "-1", true, 0xBC},
      {DType::kFloat8E5M2, "61440", false, 0},
      {DType::kFloat8E5M2, "inf", true, 0x7C},
      {DType::kFloat64, "", false, 0},
      {DType::kFloat64, "1x", false, 0},
      {DType::kInt4, "-8", true, 0xFFFFFFFFFFFFFFF8},
      {DType::kInt4, "8", false, 0},
      {DType::kUInt4, "15", true, 15},
      {DType::kUInt4, "16", false, 0},
      {DType::kGgufQ4K, "1", false, 0},
  };
  for (const auto& test : cases) {
    CAPTURE(static_cast<int>(test.dtype));
    CAPTURE(test.text);
    const auto bits = encode_element(test.dtype, test.text);
    REQUIRE(bits.ok() == test.fits);
    if (bits) CHECK(*bits == test.bits);
    if (!bits) CHECK(bits.error().code == diag::kElementOutOfRange);
  }
}

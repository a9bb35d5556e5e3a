// Well-formed UTF-8 by its definition: the shortest encoding of a code point that is no surrogate.
#include "support/utf8.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "support/integer_range.hpp"

using namespace mir;

namespace {

/// How many bytes the lead byte announces; 0: it leads nothing.
std::size_t length_of(unsigned lead) {
  return lead < 0x80             ? 1
         : (lead & 0xe0) == 0xc0 ? 2
         : (lead & 0xf0) == 0xe0 ? 3
         : (lead & 0xf8) == 0xf0 ? 4
                                 : 0;
}

bool encodes_a_code_point(const unsigned char* bytes, std::size_t length) {
  constexpr unsigned kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned number = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((bytes[i] & 0xc0) != 0x80) return false;
    number = number << 6 | (bytes[i] & 0x3fu);
  }
  const bool is_surrogate = number >= 0xd800 && number <= 0xdfff;
  return length != 0 && number >= kLeast[length] && number <= 0x10ffff && !is_surrogate;
}

}  // namespace

TEST_CASE("UTF-8 is well formed where it encodes a code point in the shortest way") {
  constexpr unsigned kFurther[] = {0x7f, 0x80, 0xbf, 0xc0};
  std::size_t wrong = 0;
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      for (unsigned rest = 0; rest < 16; ++rest) {
        const unsigned char bytes[] = {static_cast<unsigned char>(first),
                                       static_cast<unsigned char>(second),
                                       static_cast<unsigned char>(kFurther[rest % 4]),
                                       static_cast<unsigned char>(kFurther[rest / 4])};
        const auto* text = reinterpret_cast<const char*>(bytes);
        const std::size_t length = length_of(first), size = std::max<std::size_t>(length, 1);
        const bool valid = encodes_a_code_point(bytes, length);
        if (find_invalid_utf8(text, text + size) != (valid ? text + size : text)) ++wrong;
        if (length > 1 && find_invalid_utf8(text, text + length - 1) != text) ++wrong;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the first byte that is not UTF-8 is found wherever it is") {
  for (std::size_t size = 0; size < 600; size += size < 20 ? 1 : 29) {
    const std::string good(size, 'a');
    CHECK(is_utf8(good));
    for (std::size_t at = 0; at < size; ++at) {
      std::string bad = good;
      bad[at] = '\xff';
      CHECK(find_invalid_utf8(bad.data(), bad.data() + size) == bad.data() + at);
      CHECK(with_valid_utf8(bad) == good.substr(0, at) + "\xef\xbf\xbd" + good.substr(at + 1));
    }
  }
}

TEST_CASE("integers of up to 32 bits have the range of their bits") {
  struct Range {
    DType dtype;
    std::int64_t low, high;
  };
  constexpr Range kRanges[] = {{DType::kInt4, -8, 7},
                               {DType::kUInt4, 0, 15},
                               {DType::kInt8, -128, 127},
                               {DType::kUInt8, 0, 255},
                               {DType::kInt16, -32768, 32767},
                               {DType::kUInt16, 0, 65535},
                               {DType::kInt32, -2147483648, 2147483647},
                               {DType::kUInt32, 0, 4294967295}};
  for (const Range& each : kRanges) {
    const auto range = integer_range(each.dtype);
    CAPTURE(each.dtype);
    REQUIRE(range);
    CHECK(range->low == each.low);
    CHECK(range->high == each.high);
  }
  for (const DType none : {DType::kInt64, DType::kUInt64, DType::kFloat32, DType::kBool}) {
    CAPTURE(none);
    CHECK_FALSE(integer_range(none));
  }
}

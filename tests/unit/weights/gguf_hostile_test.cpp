#include "gguf_bytes.hpp"
#include "hostile.hpp"
#include "mir/codes/weights.hpp"

using namespace mir;
using namespace mir::test;

namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

std::string with_pair(std::uint64_t type, const std::string& value) {
  return GgufParts{.pairs = {gguf_pair("k", type, value)}, .data = 0}.bytes();
}

std::string with_tensor(GgufTensor tensor, std::size_t data = 2) {
  return GgufParts{.tensors = {std::move(tensor)}, .data = data}.bytes();
}

std::string with_alignment(std::uint64_t type, const std::string& value) {
  return GgufParts{.pairs = {gguf_pair("general.alignment", type, value)}, .data = 0}.bytes();
}

/// An array of arrays of …, `depth` deep, around nothing.
std::string nested(int depth) {
  std::string value = little(0, 4) + little(0, 8);
  for (int i = 1; i < depth; ++i) value = little(9, 4) + little(1, 8) + value;
  return value;
}

std::vector<Hostile> broken_headers() {
  const std::string header = GgufParts{.data = 0, .alignment = 1}.bytes();
  return {
      {"the magic number alone", "GGUF"},
      {"half a header", header.substr(0, 23)},
      {"version 0", GgufParts{.version = 0, .data = 0}.bytes()},
      {"version 1", GgufParts{.version = 1, .data = 0}.bytes()},
      {"version 4", GgufParts{.version = 4, .data = 0}.bytes()},
      {"version 65535", GgufParts{.version = 0xFFFF, .data = 0}.bytes()},
      {"version 65536", GgufParts{.version = 0x10000, .data = 0}.bytes()},
      {"version 65537", GgufParts{.version = 0x10001, .data = 0}.bytes()},
      {"the other byte order", GgufParts{.version = 0x03000000, .data = 0}.bytes()},
      {"2^64 - 1 tensors", GgufParts{.data = 0, .more_tensors = kAll}.bytes()},
      {"2^64 - 1 pairs", GgufParts{.data = 0, .more_pairs = kAll}.bytes()},
      {"2^32 tensors", GgufParts{.data = 2000, .more_tensors = std::uint64_t{1} << 32}.bytes()},
      {"more pairs than there are", GgufParts{.data = 0, .alignment = 1, .more_pairs = 1}.bytes()},
      {"more tensors than there are",
       GgufParts{.data = 0, .alignment = 1, .more_tensors = 1}.bytes()},
      {"bytes after the header", GgufParts{.data = 32}.bytes()},
  };
}

std::vector<Hostile> broken_metadata() {
  const auto with_key = [](const std::string& key) {
    return GgufParts{.pairs = {gguf_pair(key, 0, "\1")}, .data = 0}.bytes();
  };
  const auto pair = gguf_pair("k", 0, "\1");
  return {
      {"an empty key", with_key("")},
      {"a blank in a key", with_key("a b")},
      {"a key that is not ASCII", with_key("\xC3\xA4")},
      {"a NUL in a key", with_key(std::string("a\0b", 3))},
      {"a key of 65,536 bytes", with_key(std::string(65536, 'k'))},
      {"a key over the file",
       GgufParts{.pairs = {little(kAll, 8) + std::string(40, 'k')}, .data = 0}.bytes()},
      {"a key twice", GgufParts{.pairs = {pair, pair}, .data = 0}.bytes()},
      {"the unknown value type 13", with_pair(13, std::string(8, '\0'))},
      {"the unknown value type 2^32 - 1", with_pair(0xFFFFFFFF, std::string(8, '\0'))},
      {"a bool of 2", with_pair(7, "\2")},
      {"a string over the file", with_pair(8, little(1000, 8) + "x")},
      {"a string of 2^64 - 1 bytes", with_pair(8, little(kAll, 8) + "x")},
      {"a string whose length wraps", with_pair(8, little(kAll - 40, 8) + "x")},
      {"an array over the file", with_pair(9, little(4, 4) + little(1000, 8))},
      {"an array whose size wraps", with_pair(9, little(4, 4) + little(std::uint64_t{1} << 62, 8))},
      {"an array of 2^64 - 1 strings", with_pair(9, little(8, 4) + little(kAll, 8))},
      {"an array of 2^64 - 1 bools", with_pair(9, little(7, 4) + little(kAll, 8))},
      {"an array with a bool of 2", with_pair(9, little(7, 4) + little(2, 8) + "\1\2")},
      {"an array of an unknown type", with_pair(9, little(13, 4) + little(1, 8) + "12345678")},
      {"arrays nested 5 deep", with_pair(9, nested(6))},
      {"arrays nested 10,000 deep", with_pair(9, nested(10'000))},
      {"an alignment of 0", with_alignment(4, little(0, 4))},
      {"an alignment of 4", with_alignment(4, little(4, 4))},
      {"an alignment of 48", with_alignment(4, little(48, 4))},
      {"an alignment as text", with_alignment(8, gguf_string("32"))},
      {"an alignment of 64 bits", with_alignment(10, little(32, 8))},
      {"a value that the file ends in",
       GgufParts{.pairs = {gguf_pair("k", 12, "1234")}, .data = 0, .alignment = 1}.bytes()},
  };
}

std::vector<Hostile> broken_tensors() {
  const auto two = [](GgufTensor second, std::size_t data) {
    return GgufParts{.tensors = {{.name = "a"}, std::move(second)}, .data = data}.bytes();
  };
  constexpr std::uint64_t kBit32 = std::uint64_t{1} << 32;
  return {
      {"an empty name", with_tensor({.name = ""})},
      {"a NUL in a name", with_tensor({.name = std::string("a\0b", 3)})},
      {"a name that is not UTF-8", with_tensor({.name = "\xFF"})},
      {"a name of 65 bytes", with_tensor({.name = std::string(65, 'n')})},
      {"a name twice", two({.name = "a", .offset = 32}, 34)},
      {"rank 5", with_tensor({.dims = {1, 1, 1, 1, 2}})},
      {"an extent of 2^63", with_tensor({.dims = {std::uint64_t{1} << 63}})},
      {"an extent of 2^64 - 1", with_tensor({.dims = {kAll}})},
      {"a product of 2^64", with_tensor({.dims = {kBit32, kBit32}}, 0)},
      {"bytes that wrap to 0", with_tensor({.dims = {std::uint64_t{1} << 62}, .type = 26}, 0)},
      {"an unread type past the end of the file", with_tensor({.type = 39, .offset = 64})},
      {"an unread type inside another tensor", two({.name = "b", .type = 39}, 34)},
      {"a row that is no multiple of the block", with_tensor({.dims = {16, 2}, .type = 2}, 18)},
      {"a row of 128 in blocks of 256", with_tensor({.dims = {128, 2}, .type = 12}, 144)},
      {"an offset that is not aligned", with_tensor({.offset = 8}, 10)},
      {"an offset past the end of the file", with_tensor({.offset = 64})},
      {"an offset that wraps", with_tensor({.offset = kAll - 31})},
      {"an offset and size that wrap", with_tensor({.dims = {64}, .offset = kAll - 31})},
      {"less data than stated", with_tensor({.dims = {8}}, 7)},
      {"no data", with_tensor({.dims = {8}}, 0)},
      {"data that begin past the end of the file",
       GgufParts{.tensors = {{}}, .data = 0, .alignment = 1}.bytes()},
      {"two tensors on the same bytes", two({.name = "b"}, 2)},
      {"tensors that overlap", two({.name = "b", .dims = {64}}, 64)},
      {"bytes after the last tensor", with_tensor({}, 34)},
  };
}

}  // namespace

TEST_CASE("GGUF headers that state the impossible are refused") {
  check_refused(broken_headers(), diag::kGgufMalformed);
}

TEST_CASE("GGUF metadata that break the format are refused") {
  check_refused(broken_metadata(), diag::kGgufMalformed);
}

TEST_CASE("GGUF tensors with wrong types, extents or ranges are refused") {
  check_refused(broken_tensors(), diag::kGgufMalformed);
}

TEST_CASE("every cut and every flipped bit of a GGUF file is survived") {
  check_cuts_and_flips(
      GgufParts{.pairs = {gguf_pair("k", 9, little(8, 4) + little(1, 8) + gguf_string("ab"))},
                .tensors = {{.name = "a"}, {.name = "b", .offset = 32}},
                .data = 34}
          .bytes());
}

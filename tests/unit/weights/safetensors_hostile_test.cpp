#include <doctest/doctest.h>

#include "mir/codes/files.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/codes/weights.hpp"
#include "temporary.hpp"
#include "weights/formats/safetensors.hpp"

using namespace mir;
using namespace mir::test;

namespace safetensors_hostile_test {

namespace {

struct Hostile {
  std::string what;
  std::string bytes;
};

std::string file_of(std::string_view header, std::size_t data) {
  return little(header.size(), 8).append(header) + std::string(data, '\1');
}

/// A file with one tensor `x` described by these members.
std::string one(std::string_view dtype, std::string_view shape, std::string_view offsets,
                std::size_t data) {
  return file_of("{\"x\":{\"dtype\":" + std::string(dtype) + ",\"shape\":" + std::string(shape) +
                     ",\"data_offsets\":" + std::string(offsets) + "}}",
                 data);
}

std::string two(std::string_view first, std::string_view second, std::size_t data,
                std::string_view second_name = "b") {
  const auto entry = [](std::string_view name, std::string_view range) {
    return "\"" + std::string(name) +
           "\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":" + std::string(range) + "}";
  };
  return file_of("{" + entry("a", first) + "," + entry(second_name, second) + "}", data);
}

std::vector<Hostile> broken_structure() {
  std::string unclosed = "{\"a\":";
  for (int i = 0; i < 100'000; ++i) unclosed += "[";
  return {
      {"no bytes", ""},
      {"one byte", "\1"},
      {"seven bytes", std::string(7, '\0')},
      {"a length and no header", little(2, 8)},
      {"an empty header", little(0, 8)},
      {"a length over the file", little(100, 8) + "{}"},
      {"a length of 2^64 - 1", little(~std::uint64_t{0}, 8) + "{}"},
      {"a length that wraps", little(~std::uint64_t{0} - 7, 8) + "{}"},
      {"a header that is a list", file_of("[]", 0)},
      {"a blank before the header", file_of(" {}", 0)},
      {"a byte order mark", file_of("\xEF\xBB\xBF{}", 0)},
      {"an unclosed header", file_of("{", 0)},
      {"two objects", file_of("{}{}", 0)},
      {"a NUL after the header", file_of(std::string("{}\0", 3), 0)},
      {"bytes that are not UTF-8", file_of("{\"\xFF\":{}}", 0)},
      {"a lone surrogate", file_of(R"({"__metadata__":{"a":"\ud800"}})", 0)},
      {"a comment", file_of("{/**/}", 0)},
      {"deep nesting", file_of(unclosed, 0)},
      {"data without tensors", file_of("{}", 1)},
  };
}

std::vector<Hostile> broken_header() {
  const std::string good = R"("dtype":"U8","shape":[2],"data_offsets":[0,2])";
  const auto entry = [](const std::string& text) { return file_of("{\"x\":{" + text + "}}", 2); };
  return {
      {"a tensor that is null", file_of(R"({"x":null})", 0)},
      {"a tensor that is a string", file_of(R"({"x":"U8"})", 0)},
      {"a tensor that is a list", file_of(R"({"x":[]})", 0)},
      {"an empty tensor entry", entry("")},
      {"no dtype", entry(R"("shape":[2],"data_offsets":[0,2])")},
      {"no shape", entry(R"("dtype":"U8","data_offsets":[0,2])")},
      {"no offsets", entry(R"("dtype":"U8","shape":[2])")},
      {"an unknown key", entry(good + R"(,"strides":[1])")},
      {"two dtypes", entry(good + R"(,"dtype":"U8")")},
      {"two shapes", entry(good + R"(,"shape":[2])")},
      {"an object for a shape", one("\"U8\"", "{}", "[0,2]", 2)},
      {"a list of lists for a shape", one("\"U8\"", "[[2]]", "[0,2]", 2)},
      {"a list for a dtype", one("[2]", "[2]", "[0,2]", 2)},
      {"a number for a dtype", one("8", "[2]", "[0,2]", 2)},
      {"true for an extent", one("\"U8\"", "[true]", "[0,1]", 1)},
      {"text for an extent", one("\"U8\"", "[\"2\"]", "[0,2]", 2)},
      {"two metadata objects", file_of(R"({"__metadata__":{},"__metadata__":{}})", 0)},
      {"a metadata key twice", file_of(R"({"__metadata__":{"a":"","a":""}})", 0)},
      {"a metadata number", file_of(R"({"__metadata__":{"a":1}})", 0)},
      {"a metadata object", file_of(R"({"__metadata__":{"a":{}}})", 0)},
      {"a metadata list", file_of(R"({"__metadata__":[]})", 0)},
      {"an empty name", file_of("{\"\":{" + good + "}}", 2)},
      {"a NUL in a name", file_of("{\"a\\u0000b\":{" + good + "}}", 2)},
      {"a name of 5000 bytes", file_of("{\"" + std::string(5000, 'n') + "\":{" + good + "}}", 2)},
      {"a name twice", two("[0,2]", "[2,4]", 4, "a")},
  };
}

std::vector<Hostile> broken_ranges() {
  std::string ones = "1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  return {
      {"a dtype of 17 characters", one("\"F0123456789012345\"", "[2]", "[0,2]", 2)},
      {"an empty dtype", one("\"\"", "[2]", "[0,2]", 2)},
      {"a dtype in lower case", one("\"u8\"", "[2]", "[0,2]", 2)},
      {"a negative extent", one("\"U8\"", "[-2]", "[0,2]", 2)},
      {"a negative zero", one("\"U8\"", "[-0]", "[0,0]", 0)},
      {"a fractional extent", one("\"U8\"", "[2.0]", "[0,2]", 2)},
      {"an extent with an exponent", one("\"U8\"", "[2e0]", "[0,2]", 2)},
      {"an extent of 2^63", one("\"U8\"", "[9223372036854775808]", "[0,2]", 2)},
      {"an extent of 2^64", one("\"U8\"", "[18446744073709551616]", "[0,0]", 0)},
      {"a product of 2^64", one("\"U8\"", "[4294967296,4294967296]", "[0,0]", 0)},
      {"a product that wraps to 2", one("\"U8\"", "[9223372036854775807,2,1]", "[0,2]", 2)},
      {"bytes that wrap to 0", one("\"F32\"", "[4611686018427387904]", "[0,0]", 0)},
      {"a rank of 65", one("\"U8\"", "[" + ones + "]", "[0,1]", 1)},
      {"more data than the shape needs", one("\"U8\"", "[2]", "[0,3]", 3)},
      {"less data than the shape needs", one("\"F32\"", "[2]", "[0,7]", 7)},
      {"an end before the begin", one("\"U8\"", "[2]", "[2,0]", 2)},
      {"an end past the end of the file", one("\"U8\"", "[2]", "[0,2]", 1)},
      {"an end of 2^64 - 1",
       one("\"U8\"", "[2]", "[18446744073709551613,18446744073709551615]", 2)},
      {"three offsets", one("\"U8\"", "[2]", "[0,2,2]", 2)},
      {"one offset", one("\"U8\"", "[0]", "[0]", 0)},
      {"a hole before the first tensor", one("\"U8\"", "[2]", "[1,3]", 3)},
      {"bytes after the last tensor", one("\"U8\"", "[2]", "[0,2]", 3)},
      {"a hole between tensors", two("[0,2]", "[3,5]", 5)},
      {"tensors that overlap", two("[0,2]", "[1,3]", 3)},
      {"two tensors on the same bytes", two("[0,2]", "[0,2]", 2)},
  };
}

void check_refused(const std::vector<Hostile>& files) {
  const TemporaryDirectory directory;
  for (const auto& hostile : files) {
    CAPTURE(hostile.what);
    const auto file = SafetensorsFile::open(directory.write("hostile", hostile.bytes));
    REQUIRE_FALSE(file);
    CHECK(file.error().code == diag::kSafetensorsMalformed);
    CHECK(file.error().message == test::Part{"hostile': "});
  }
}

}  // namespace

TEST_CASE("safetensors files of a broken structure are refused") {
  check_refused(broken_structure());
}

TEST_CASE("safetensors headers with wrong members are refused") {
  check_refused(broken_header());
}

TEST_CASE("safetensors tensors with wrong types, extents or ranges are refused") {
  check_refused(broken_ranges());
}

TEST_CASE("a refusal of a safetensors file counts bytes from the begin of the data") {
  const auto refusal = [](const std::string& bytes) {
    const auto shared = std::make_shared<const std::string>(bytes);
    const auto file = SafetensorsFile::parse({std::as_bytes(std::span(*shared)), shared, "f"});
    return file ? "none" : file.error().message;
  };
  CHECK(refusal(std::string(7, '\0')) == "'f': 7 bytes are too few");
  CHECK(refusal(little(0, 8)) != "'f': 8 bytes are too few");
  CHECK(refusal(little(100, 8) + "{}") == "'f': a header of 100 bytes in a file of 10");
  CHECK(refusal(two("[0,2]", "[3,5]", 5)) ==
        "'f': tensor 'b' starts at byte 3 of the buffer, expected 2");
  CHECK(refusal(two("[0,2]", "[1,3]", 3)) ==
        "'f': tensor 'b' starts at byte 1 of the buffer, expected 2");
  CHECK(refusal(two("[0,2]", "[2,4]", 7)) == "'f': 3 bytes follow the last tensor");
  CHECK(refusal(two("[0,2]", "[2,4]", 4)) == "none");
}

TEST_CASE("every cut and every flipped byte of a safetensors file is survived") {
  const auto good = two("[0,2]", "[2,4]", 4);
  const TemporaryDirectory directory;
  REQUIRE(SafetensorsFile::open(directory.write("good", good)));
  for (std::size_t i = 0; i < good.size(); ++i) {
    CAPTURE(i);
    const auto cut = std::make_shared<const std::string>(good.substr(0, i));
    CHECK_FALSE(SafetensorsFile::parse({std::as_bytes(std::span(*cut)), cut, "cut"}));
    for (int bit = 0; bit < 8; ++bit) {
      auto flipped = std::make_shared<std::string>(good);
      (*flipped)[i] = static_cast<char>((*flipped)[i] ^ 1 << bit);
      const auto file =
          SafetensorsFile::parse({std::as_bytes(std::span(*flipped)), flipped, "flip"});
      if (!file) continue;
      for (const StoredTensor& entry : file->tensors().entries()) {
        CHECK(file->tensors().find(entry.name).ok() == entry.unread_type.empty());
      }
    }
  }
}

TEST_CASE("a Bool other than 0 and 1 is refused when it is read") {
  const TemporaryDirectory directory;
  auto bytes = one("\"BOOL\"", "[2]", "[0,2]", 2);
  bytes.back() = '\2';
  const auto file = SafetensorsFile::open(directory.write("bool", bytes));
  REQUIRE(file);
  const auto tensor = file->tensors().find("x");
  REQUIRE_FALSE(tensor);
  CHECK(tensor.error().code == diag::kElementOutOfRange);
}

TEST_CASE("a missing file and a directory are not read as safetensors") {
  const TemporaryDirectory directory;
  CHECK(SafetensorsFile::open(directory.file("none")).error().code == diag::kFileNotReadable);
  CHECK_FALSE(SafetensorsFile::open(directory.file("")));
}

}  // namespace safetensors_hostile_test

#include "weights/formats/gguf.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "gguf_bytes.hpp"
#include "mir/codes/tensors.hpp"

using namespace mir;
using namespace mir::test;

namespace {

Result<GgufFile> parse(const std::string& bytes) {
  const auto kept = std::make_shared<const std::string>(bytes);
  return GgufFile::parse({std::as_bytes(std::span(*kept)), kept, "memory"});
}

}  // namespace

TEST_CASE("a GGUF file gives its tensors in row-major order") {
  const GgufParts parts{.tensors = {{.name = "a", .dims = {3, 2}},
                                    {.name = "scalar", .dims = {}, .type = 24, .offset = 32},
                                    {.name = "none", .dims = {0, 7}, .offset = 32}},
                        .data = 33};
  const auto file = parse(parts.bytes());
  REQUIRE(file);
  const auto& entries = file->tensors().entries();
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].shape == Shape{2, 3});
  CHECK(entries[0].dtype == DType::kInt8);
  CHECK(entries[1].shape == Shape{});
  CHECK(entries[2].shape == Shape{7, 0});
  CHECK(bytes_of(**file->tensors().find("a")) == std::string(6, '\1'));
}

TEST_CASE("a GGUF file with a type that is not read gives its other tensors") {
  const GgufParts parts{.tensors = {{.name = "new", .dims = {32, 2}, .type = 39},
                                    {.name = "a", .dims = {2}, .offset = 64},
                                    {.name = "later", .type = 0xFFFFFFFF, .offset = 96}},
                        .data = 98};
  const auto file = parse(parts.bytes());
  REQUIRE(file);
  const auto& entries = file->tensors().entries();
  CHECK(entries[0].unread_type == "MXFP4");
  CHECK(entries[0].shape == Shape{2, 32});
  CHECK(entries[0].end - entries[0].begin == 64);
  CHECK(entries[2].unread_type == "number 4294967295");
  CHECK(bytes_of(**file->tensors().find("a")) == "\1\1");
  const auto unread = file->tensors().find("new");
  REQUIRE_FALSE(unread);
  CHECK(unread.error().code == diag::kTensorDtypeUnsupported);
  CHECK(unread.error().message == "'memory': tensor 'new' has the type MXFP4, which is not read");
}

TEST_CASE("every kind of metadata value has a text") {
  const auto text = [](std::uint64_t type, const std::string& value) {
    const auto file = parse(GgufParts{.pairs = {gguf_pair("k", type, value)}, .data = 0}.bytes());
    REQUIRE(file);
    REQUIRE(file->metadata().size() == 1);
    CHECK(file->metadata()[0].key == "k");
    return file->metadata()[0].text();
  };
  CHECK(text(0, little(200, 1)) == "200");
  CHECK(text(1, little(200, 1)) == "-56");
  CHECK(text(2, little(40000, 2)) == "40000");
  CHECK(text(3, little(40000, 2)) == "-25536");
  CHECK(text(4, little(3000000000, 4)) == "3000000000");
  CHECK(text(5, little(~0ull, 4)) == "-1");
  CHECK(text(6, little(0x3F000000, 4)) == "0.5");
  CHECK(text(7, little(1, 1)) == "true");
  CHECK(text(8, gguf_string("a \"b\"\n")) == "\"a \\\"b\\\"\\x0A\"");
  CHECK(text(8, gguf_string(std::string(100, 'x'))) == "\"" + std::string(64, 'x') + "\"...");
  CHECK(text(9, little(4, 4) + little(2, 8) + little(7, 8)) == "uint32[2]");
  CHECK(text(9, little(9, 4) + little(1, 8) + little(0, 4) + little(2, 8) + "ab") == "array[1]");
  CHECK(text(10, little(~0ull, 8)) == "18446744073709551615");
  CHECK(text(11, little(~0ull, 8)) == "-1");
  CHECK(text(12, little(0x3FE0000000000000, 8)) == "0.5");
}

TEST_CASE("a stated alignment moves the data of a GGUF file") {
  GgufParts parts{.pairs = {gguf_pair("general.alignment", 4, little(128, 4))},
                  .tensors = {{.name = "a"}, {.name = "b", .offset = 128}},
                  .data = 130,
                  .alignment = 128};
  const auto file = parse(parts.bytes());
  REQUIRE(file);
  CHECK(file->tensors().entries()[1].begin % 128 == 0);
  parts.tensors[1].offset = 64;
  CHECK_FALSE(parse(parts.bytes()));
}

TEST_CASE("a GGUF file may fill up its last tensor, or have none") {
  CHECK(parse(GgufParts{.tensors = {{}}, .data = 32}.bytes()));
  CHECK_FALSE(parse(GgufParts{.tensors = {{}}, .data = 34}.bytes()));
  CHECK(parse(GgufParts{.data = 0}.bytes()));
  CHECK(parse(GgufParts{.data = 0, .alignment = 1}.bytes()));  // ends with its metadata
}

TEST_CASE("types of GGUF files are told apart from those of .mllm files") {
  CHECK(dtype_from_gguf(10) == DType::kGgufQ2K);
  CHECK(dtype_from_gguf(24) == DType::kInt8);
  CHECK(dtype_from_gguf(30) == DType::kBFloat16);
  CHECK_FALSE(dtype_from_gguf(39));
  for (std::uint32_t id = 0; id < 64; ++id) {
    const auto dtype = dtype_from_gguf(id);
    if (dtype) CHECK(gguf_dtype_id(*dtype) == id);
  }
  CHECK_FALSE(gguf_dtype_id(DType::kMXFP4));
}

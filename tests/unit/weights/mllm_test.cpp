#include "weights/formats/mllm.hpp"

#include <doctest/doctest.h>

#include "mir/weights.hpp"
#include "mllm_bytes.hpp"

using namespace mir;
using namespace mir::test;

namespace mllm_test {

namespace {

Result<MllmFile> parse(const std::string& bytes) {
  const auto kept = std::make_shared<const std::string>(bytes);
  return MllmFile::parse({std::as_bytes(std::span(*kept)), kept, "memory"});
}

constexpr std::string_view kFourBytes = "\x01\x02\x03\x04";

}  // namespace

TEST_CASE("an .mllm file of version 1 gives tensors of rank 1") {
  auto bytes = mllm_v1(
      {{.name = "a.weight", .size = 3}, {.name = "b", .dtype = 0, .begin = 3, .size = 8}}, 3);
  bytes += little(0x3F800000, 4) + little(0x40000000, 4);
  const auto file = parse(bytes);
  REQUIRE(file);
  CHECK(file->version() == 1);
  CHECK(file->tensors().names() == std::vector<std::string>{"a.weight", "b"});
  const auto tensor = file->tensors().find("b");
  REQUIRE(tensor);
  CHECK((*tensor)->dtype() == DType::kFloat32);
  CHECK((*tensor)->shape() == Shape{2});
  CHECK(values_of<float>(**tensor) == std::vector<float>{1, 2});
  CHECK(bytes_of(**file->tensors().find("a.weight")) == "\1\1\1");
  CHECK_FALSE(file->tensors().find("a")->has_value());
}

TEST_CASE("an .mllm file of version 2 gives tensors with their extents") {
  auto bytes = mllm_v2({{.name = "m", .dtype = 18, .size = 8, .shape = {2, 1}},
                        {.name = "scalar", .dtype = 1, .begin = 8, .size = 2, .shape = {}},
                        {.name = "none", .dtype = 0, .begin = 10, .size = 0, .shape = {0, 4}},
                        {.name = "packed", .dtype = 134, .begin = 10, .size = 4, .shape = {4}}},
                       0);
  bytes += little(7, 4) + little(~0ull, 4) + little(0x3C00, 2) + std::string(kFourBytes);
  const auto file = parse(bytes);
  REQUIRE(file);
  CHECK(file->version() == 2);
  const auto m = file->tensors().find("m");
  REQUIRE(m);
  CHECK((*m)->shape() == Shape{2, 1});
  CHECK(values_of<std::int32_t>(**m) == std::vector<std::int32_t>{7, -1});
  const auto scalar = file->tensors().find("scalar");
  CHECK((*scalar)->shape() == Shape{});
  CHECK((*scalar)->as<std::uint16_t>()[0] == 0x3C00);
  CHECK((*file->tensors().find("none"))->elements() == 0);
  const auto packed = file->tensors().find("packed");
  CHECK((*packed)->dtype() == DType::kByte);
  CHECK(bytes_of(**packed) == kFourBytes);
}

TEST_CASE("blocks of an .mllm file keep their bytes and count elements") {
  const auto first = parse(mllm_v1({{.dtype = 2, .size = 36}}, 36));
  REQUIRE(first);
  CHECK(first->tensors().entries()[0].shape == Shape{64});
  const auto second = parse(mllm_v2({{.dtype = 12, .size = 288, .shape = {2, 256}}}, 288));
  REQUIRE(second);
  CHECK(second->tensors().entries()[0].dtype == DType::kGgufQ4K);
}

TEST_CASE("what real writers of version 2 leave is accepted") {
  const std::string data(2, '\1');
  const auto one = mllm_v2({{.name = "x"}}, 0);
  SUBCASE("unused descriptors before the data") {
    const auto file = parse(mllm_v2({{.begin = 3 * 352}}, 3 * 352) + data);
    REQUIRE(file);
    CHECK(file->tensors().entries().size() == 1);
  }
  SUBCASE("a segment between header and table") {
    auto bytes = mllm_v2_header(2, 1, 532 + 8) + std::string(8, '\7') + one.substr(532);
    bytes.replace(540 + 16, 8, little(540 + 352, 8));
    CHECK(parse(bytes + data));
  }
  SUBCASE("a name of 256 bytes without an end") {
    const auto file = parse(mllm_v2({{.name = std::string(256, 'n')}}, 2));
    REQUIRE(file);
    CHECK(file->tensors().contains(std::string(256, 'n')));
  }
  SUBCASE("a model name of 512 bytes without an end") {
    const auto file = parse(mllm_v2_header(2, 0, 532, std::string(512, 'm')));
    REQUIRE(file);
    CHECK(file->model_name() == std::string(512, 'm'));
  }
}

TEST_CASE("numbers of element types lead back to the types") {
  for (std::uint32_t id = 0; id < 300; ++id) {
    const auto dtype = dtype_from_mllm(id);
    if (dtype) CHECK(mllm_dtype_id(*dtype) == id);
  }
  CHECK_FALSE(dtype_from_mllm(3));
  CHECK_FALSE(mllm_dtype_id(DType::kFloat64));
}

TEST_CASE("weights are taken from .mllm files, in the shape that is asked for") {
  const TemporaryDirectory directory;
  for (const auto& bytes : {mllm_v1({{.name = "w", .dtype = 0, .size = 24}}, 24),
                            mllm_v2({{.name = "w", .dtype = 0, .size = 24, .shape = {6}}}, 24)}) {
    const auto source = WeightSource::open(directory.write("w.mllm", bytes));
    REQUIRE(source);
    const auto tensor = source->find({.name = "w", .shape = {2, 3}});
    REQUIRE(tensor);
    CHECK((*tensor)->shape() == Shape{2, 3});
    CHECK(bytes_of(**tensor) == std::string(24, '\1'));
  }
}

}  // namespace mllm_test

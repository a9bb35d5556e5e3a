#include "weights/formats/safetensors.hpp"

#include <doctest/doctest.h>

#include "mir/codes/limits.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/codes/weights.hpp"
#include "temporary.hpp"

using namespace mir;
using namespace mir::test;

TEST_CASE("tensors written to a safetensors file are read back") {
  const TemporaryDirectory directory;
  const auto path = directory.file("m.safetensors");
  const NamedTensor tensors[] = {
      {"flags", tensor_of<std::uint8_t>(DType::kBool, {3}, {1, 0, 1})},
      {"layer.weight", tensor_of<float>(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6})},
      {"größe \"x\"\\", tensor_of<std::int64_t>(DType::kInt64, {}, {-7})},
      {"half", tensor_of<std::uint16_t>(DType::kBFloat16, {2}, {0x3F80, 0x4000})},
      {"none", tensor_of<double>(DType::kFloat64, {0, 4}, {})},
      {"packed", tensor_of<std::uint8_t>(DType::kByte, {2}, {9, 8})},
  };
  REQUIRE(write_safetensors(path, tensors, {{"format", "mir"}, {"quote", "\"\n"}}));

  const auto file = SafetensorsFile::open(path);
  REQUIRE(file);
  CHECK(file->metadata().at("quote") == "\"\n");
  for (const auto& entry : tensors) {
    CAPTURE(entry.name);
    const auto found = file->tensors().find(entry.name);
    REQUIRE(found);
    REQUIRE(found->has_value());
    CHECK((*found)->shape() == entry.tensor.shape());
    CHECK(bytes_of(**found) == bytes_of(entry.tensor));
  }
  CHECK((*file->tensors().find("packed"))->dtype() == DType::kUInt8);
  CHECK(file->tensors().find("flag")->has_value() == false);
}

TEST_CASE("a written file starts its data at a multiple of 64 bytes, wider types first") {
  const TemporaryDirectory directory;
  const auto path = directory.file("m.safetensors");
  const NamedTensor tensors[] = {
      {"a", tensor_of<std::uint8_t>(DType::kUInt8, {1}, {1})},
      {"b", tensor_of<float>(DType::kFloat32, {1}, {1})},
      {"c", tensor_of<double>(DType::kFloat64, {1}, {1})},
      {"d", tensor_of<float>(DType::kFloat32, {1}, {1})},
  };
  REQUIRE(write_safetensors(path, tensors));
  const auto file = SafetensorsFile::open(path);
  REQUIRE(file);
  CHECK(file->tensors().names() == std::vector<std::string>{"c", "b", "d", "a"});
  CHECK(file->tensors().entries().front().begin % 64 == 0);
  const auto first = contents(path);
  REQUIRE(write_safetensors(path, tensors));
  CHECK(contents(path) == first);
}

TEST_CASE("a tensor borrows the file where it is aligned and is copied where it is not") {
  for (const std::size_t padding : {0, 1}) {
    std::string header = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    header.append((8 - header.size() % 8) % 8 + padding, ' ');
    const auto text = std::make_shared<const std::string>(little(header.size(), 8) + header +
                                                          little(0x3F800000, 4) + little(0, 4));
    const auto bytes = std::as_bytes(std::span(*text));
    const auto file = SafetensorsFile::parse({bytes, text, "memory"});
    REQUIRE(file);
    const auto tensor = file->tensors().find("x");
    REQUIRE(tensor);
    CHECK((*tensor)->as<float>()[0] == 1.0f);
    CHECK(((*tensor)->bytes().data() == bytes.last(8).data()) == (padding == 0));
  }
}

TEST_CASE("a safetensors file with a type that is not read gives its other tensors") {
  const std::string header = R"({"s":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[0,2]},)"
                             R"("h":{"dtype":"F4","shape":[4],"data_offsets":[2,4]},)"
                             R"("w":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}})";
  const auto text =
      std::make_shared<const std::string>(little(header.size(), 8) + header + "abcdef");
  const auto file = SafetensorsFile::parse({std::as_bytes(std::span(*text)), text, "memory"});
  REQUIRE(file);
  CHECK(file->tensors().entry("s")->unread_type == "F8_E8M0");
  CHECK(file->tensors().entry("h")->unread_type == "F4");
  CHECK(file->tensors().entry("h")->shape == Shape{4});
  CHECK(bytes_of(**file->tensors().find("w")) == "ef");
  const auto unread = file->tensors().find("s");
  REQUIRE_FALSE(unread);
  CHECK(unread.error().message == "'memory': tensor 's' has the type F8_E8M0, which is not read");
}

TEST_CASE("the safetensors writer refuses what the format cannot hold") {
  const TemporaryDirectory directory;
  const auto path = directory.file("m.safetensors");
  const auto one = tensor_of<std::uint8_t>(DType::kUInt8, {1}, {1});
  const auto code_of = [&](std::initializer_list<NamedTensor> tensors) {
    const auto written = write_safetensors(path, std::vector(tensors));
    REQUIRE_FALSE(written);
    return written.error().code;
  };
  CHECK(code_of({{"a", one}, {"a", one}}) == diag::kTensorNameInvalid);
  CHECK(code_of({{"", one}}) == diag::kTensorNameInvalid);
  CHECK(code_of({{"a\n", one}}) == diag::kTensorNameInvalid);
  // Overlong forms, a surrogate, a value over 10FFFF, a cut sequence.
  for (const auto* name : {"\xC0\x80", "\xE0\x80\x80", "\xF0\x80\x80\x80", "\xED\xA0\x80",
                           "\xF4\x90\x80\x80", "\xE2\x82", "\x80"})
    CHECK(code_of({{name, one}}) == diag::kTensorNameInvalid);
  CHECK(code_of({{"__metadata__", one}}) == diag::kTensorNameInvalid);
  CHECK(code_of({{"q", *Tensor::allocate(DType::kGgufQ4_0, {32})}}) ==
        diag::kTensorDtypeUnsupported);
  CHECK(code_of({{"r", *one.reshaped(Shape(kMaxFileRank + 1, 1))}}) == diag::kLimitExceeded);
  CHECK_FALSE(write_safetensors(path, {}, {{"k", "\xFF"}}));
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a safetensors file without tensors is legal") {
  const TemporaryDirectory directory;
  const auto path = directory.file("m.safetensors");
  REQUIRE(write_safetensors(path, {}));
  const auto file = SafetensorsFile::open(path);
  REQUIRE(file);
  CHECK(file->tensors().entries().empty());
}

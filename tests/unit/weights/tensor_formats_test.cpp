#include "weights/tensor_formats.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "gguf_bytes.hpp"
#include "weights/tensor_file.hpp"

namespace mir::tensor_formats_test {

TEST_CASE("options offer files with the endings of all formats") {
  std::string endings;
  for (const TensorFormatRow& row : tensor_formats()) {
    CAPTURE(std::string(row.name));
    if (endings.ends_with(row.ending)) continue;  // two versions
    endings += (endings.empty() ? "" : " ") + std::string(row.ending);
  }
  CHECK(endings == kTensorFileEndings);
}

TEST_CASE("a GGUF file of 123 tensors has a brace where safetensors files have one, and is none") {
  test::GgufParts parts{.tensors = std::vector<test::GgufTensor>(123, {.dims = {0}}), .data = 0};
  for (std::size_t i = 0; i < parts.tensors.size(); ++i) parts.tensors[i].name += std::to_string(i);
  const auto bytes = std::make_shared<const std::string>(parts.bytes());
  REQUIRE((*bytes)[8] == '{');
  const auto file = TensorFile::parse({std::as_bytes(std::span(*bytes)), bytes, "memory"});
  REQUIRE(file);
  CHECK(file->format() == TensorFormat::kGguf);
}

}  // namespace mir::tensor_formats_test

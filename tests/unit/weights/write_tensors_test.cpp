#include "weights/write_tensors.hpp"

#include <doctest/doctest.h>

#include "mir/codes/files.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/codes/usage.hpp"
#include "mir/codes/weights.hpp"
#include "temporary.hpp"
#include "weights/blocks.hpp"
#include "weights/formats/mllm.hpp"

using namespace mir;
using namespace mir::test;

namespace {

std::vector<TensorFormat> written_formats() {
  std::vector<TensorFormat> formats;
  for (const TensorFormatRow& row : tensor_formats()) {
    if (row.write != nullptr) formats.push_back(row.format);
  }
  return formats;
}

std::vector<NamedTensor> plain_tensors() {
  return {{"odd", tensor_of<std::int8_t>(DType::kInt8, {3}, {1, -2, 3})},
          {"layer.weight", tensor_of<float>(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6})},
          {"scalar", tensor_of<std::int64_t>(DType::kInt64, {}, {-7})},
          {"none", tensor_of<float>(DType::kFloat32, {0, 4}, {})},
          {"half", tensor_of<std::uint16_t>(DType::kFloat16, {1, 2, 1}, {0x3C00, 0x4000})}};
}

/// The only tensor of `format` that this tensor becomes, or the refusal.
Result<void> write_one(TensorFormat format, const std::string& name, const Tensor& tensor) {
  const TemporaryDirectory directory;
  return write_tensors(directory.file("one"), format,
                       plans_of(std::vector<NamedTensor>{{name, tensor}}));
}

}  // namespace

TEST_CASE("every format gives back what was written, aligned") {
  const TemporaryDirectory directory;
  const auto tensors = plain_tensors();
  for (const auto format : written_formats()) {
    CAPTURE(std::string(name_of(format)));
    const auto path = directory.file("t");
    REQUIRE(write_tensors(path, format, plans_of(tensors)));
    const auto file = TensorFile::open(path);
    REQUIRE(file);
    CHECK(file->format() == format);
    CHECK(file->names().size() == tensors.size());
    for (const NamedTensor& each : tensors) {
      CAPTURE(each.name);
      const Tensor& tensor = each.tensor;
      const auto found = file->find(each.name);
      REQUIRE(found);
      REQUIRE(found->has_value());
      CHECK((*found)->dtype() == tensor.dtype());
      CHECK((*found)->shape() == tensor.shape());
      CHECK(bytes_of(**found) == bytes_of(tensor));
    }
    const auto first = contents(path);
    REQUIRE(write_tensors(path, format, plans_of(tensors)));
    CHECK(contents(path) == first);
  }
}

TEST_CASE("data of .mllm and GGUF files lie where they can be used in place") {
  const TemporaryDirectory directory;
  for (const auto& [format, alignment] :
       {std::pair(TensorFormat::kMllm2, 64), std::pair(TensorFormat::kGguf, 32)}) {
    const auto path = directory.file("t");
    REQUIRE(write_tensors(path, format, plans_of(plain_tensors())));
    const auto bytes = contents(path);
    const auto file = TensorFile::open(path);
    REQUIRE(file);
    const auto tensor = file->find("layer.weight");
    CHECK(reinterpret_cast<std::uintptr_t>((*tensor)->bytes().data()) % alignment == 0);
  }
}

TEST_CASE("blocks are stored by the formats that have them") {
  auto values = Tensor::allocate(DType::kFloat32, {2, 32});
  std::ranges::fill(values->as_mutable<float>(), 0.5f);
  const auto blocks = *quantise(*values, DType::kGgufQ4_0);
  CHECK(write_one(TensorFormat::kMllm2, "q", blocks));
  CHECK(write_one(TensorFormat::kGguf, "q", blocks));
  for (const auto format : {TensorFormat::kSafetensors, TensorFormat::kNpz}) {
    const auto refused = write_one(format, "q", blocks);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == diag::kTensorDtypeUnsupported);
  }
  // Only .mllm has a number for it, one of our own.
  const auto own = *quantise(*values, DType::kMirQ4A32);
  CHECK(write_one(TensorFormat::kMllm2, "q", own));
  for (const auto format : {TensorFormat::kSafetensors, TensorFormat::kNpz, TensorFormat::kGguf})
    CHECK(write_one(format, "q", own).error().code == diag::kTensorDtypeUnsupported);
  CHECK(stored_type(TensorFormat::kGguf, DType::kInt8PerTensor) == DType::kInt8);
  CHECK(stored_type(TensorFormat::kMllm2, DType::kInt8PerTensor) == DType::kInt8PerTensor);
  CHECK_FALSE(stored_type(TensorFormat::kGguf, DType::kUInt8));
}

TEST_CASE("names and extents that a format cannot hold are refused") {
  const auto one = tensor_of<float>(DType::kFloat32, {1}, {1});
  const auto code = [](const Result<void>& written) {
    REQUIRE_FALSE(written);
    return written.error().code;
  };
  for (const auto format : written_formats()) {
    CAPTURE(std::string(name_of(format)));
    CHECK(code(write_one(format, "", one)) == diag::kTensorNameInvalid);
    CHECK(code(write_one(format, "a\n", one)) == diag::kTensorNameInvalid);
  }
  CHECK(write_one(TensorFormat::kGguf, std::string(63, 'n'), one));
  CHECK(code(write_one(TensorFormat::kGguf, std::string(64, 'n'), one)) ==
        diag::kTensorNameInvalid);
  CHECK(write_one(TensorFormat::kMllm2, std::string(255, 'n'), one));
  CHECK(code(write_one(TensorFormat::kMllm2, std::string(256, 'n'), one)) ==
        diag::kTensorNameInvalid);
  CHECK(code(write_one(TensorFormat::kGguf, "r", *one.reshaped({1, 1, 1, 1, 1}))) ==
        diag::kLimitExceeded);
  CHECK(code(write_one(TensorFormat::kMllm2, "r", *one.reshaped(Shape(17, 1)))) ==
        diag::kLimitExceeded);
  CHECK(code(write_one(TensorFormat::kMllm2, "long",
                       *Tensor::allocate(DType::kFloat32, {std::int64_t{1} << 31, 0}))) ==
        diag::kLimitExceeded);
  CHECK(code(write_one(TensorFormat::kMllm1, "a", one)) == diag::kUsage);
}

TEST_CASE("nothing is left of a file whose tensor cannot be had") {
  const TemporaryDirectory directory;
  for (const auto format : written_formats()) {
    const auto path = directory.file("t");
    auto plans = plans_of(plain_tensors());
    plans.back().load = [] { return Result<Tensor>(Error{diag::kFileShortened, "gone"}); };
    const auto failed = write_tensors(path, format, plans);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message == "tensor 'half': gone");
    plans.back().load = [] { return Tensor::allocate(DType::kFloat16, {3}); };
    const auto other = write_tensors(path, format, plans);
    REQUIRE_FALSE(other);
    CHECK(other.error().code == diag::kTensorTypeConflict);
    CHECK_FALSE(std::filesystem::exists(path));
  }
}

TEST_CASE("metadata of a GGUF file are kept, texts replace them") {
  const TemporaryDirectory directory;
  const auto path = directory.file("t.gguf");
  WriteOptions options;
  options.metadata = {{"general.architecture", "qwen2"}, {"general.name", "a"}};
  REQUIRE(write_tensors(path, TensorFormat::kGguf, plans_of(plain_tensors()), options));
  const auto file = TensorFile::open(path);
  REQUIRE(file);
  options.metadata = {{"general.name", "b"}};
  options.gguf_metadata = file->gguf_metadata();
  const auto again = directory.file("u.gguf");
  REQUIRE(write_tensors(again, TensorFormat::kGguf, plans_of(plain_tensors()), options));
  const auto second = TensorFile::open(again);
  REQUIRE(second);
  std::vector<std::string> pairs;
  for (const auto& pair : second->gguf_metadata()) pairs.push_back(pair.key + "=" + pair.text());
  CHECK(pairs == std::vector<std::string>{"general.architecture=\"qwen2\"", "general.name=\"b\""});
  options.metadata = {{"general.alignment", "64"}};
  CHECK_FALSE(write_tensors(again, TensorFormat::kGguf, {}, options));
}

TEST_CASE("progress is reported in bytes of data") {
  const TemporaryDirectory directory;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> told;
  WriteOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    told.emplace_back(done, total);
  };
  REQUIRE(
      write_tensors(directory.file("t"), TensorFormat::kMllm2, plans_of(plain_tensors()), options));
  REQUIRE(told.size() == 5);
  CHECK(told.front() == std::pair<std::uint64_t, std::uint64_t>(3, 39));
  CHECK(told.back() == std::pair<std::uint64_t, std::uint64_t>(39, 39));
}

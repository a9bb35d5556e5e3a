#include <doctest/doctest.h>

#include <cmath>

#include "mir/codes/files.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/codes/weights.hpp"
#include "mir/weights.hpp"
#include "temporary.hpp"
#include "weights/blocks.hpp"
#include "weights/elements.hpp"
#include "weights/fit.hpp"
#include "weights/formats/npz.hpp"
#include "weights/formats/safetensors.hpp"
#include "weights/random.hpp"
#include "weights/stored_view.hpp"

using namespace mir;
using namespace mir::test;

namespace {

const Tensor kSix = tensor_of<float>(DType::kFloat32, {6}, {1, 2, 3, 4, 5, 6});

std::string safetensors(const TemporaryDirectory& directory, const char* name,
                        std::initializer_list<NamedTensor> tensors) {
  const auto path = directory.file(name);
  REQUIRE(write_safetensors(path, std::vector(tensors)));
  return path;
}

}  // namespace

TEST_CASE("a stored weight fits by its extents other than 1, one of one dimension by its count") {
  CHECK(fits_shape({2, 3}, {2, 3}));
  CHECK(fits_shape({1, 2, 3, 1}, {2, 3}));
  CHECK(fits_shape({2, 3}, {2, 1, 3}));
  CHECK(fits_shape({6}, {2, 3}));
  CHECK(fits_shape({1}, {}));
  CHECK_FALSE(fits_shape({3, 2}, {2, 3}));
  CHECK_FALSE(fits_shape({2, 3}, {6}));
  CHECK_FALSE(fits_shape({2, 3}, {2, 3, 2}));
  CHECK_FALSE(fits_shape({5}, {2, 3}));

  const TemporaryDirectory directory;
  const Tensor matrix = tensor_of<float>(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto source = WeightSource::open(safetensors(directory, "m", {{"w", matrix}}));
  REQUIRE(source);
  CHECK(source->find({.name = "w", .shape = {2, 1, 3}}));
  const auto transposed = source->find({.name = "w", .shape = {3, 2}});
  REQUIRE_FALSE(transposed);
  CHECK(transposed.error().code == diag::kTensorTypeConflict);
}

TEST_CASE("a stored weight of one dimension takes the requested shape") {
  const TemporaryDirectory directory;
  const auto source = WeightSource::open(safetensors(directory, "w", {{"w", kSix}}));
  REQUIRE(source);
  CHECK_FALSE(source->invents());
  CHECK(source->names() == std::vector<std::string>{"w"});
  const auto tensor = source->find({.name = "w", .shape = {2, 3}});
  REQUIRE(tensor);
  CHECK((*tensor)->shape() == Shape{2, 3});
  CHECK(bytes_of(**tensor) == bytes_of(kSix));
  CHECK(source->find({.name = "v", .shape = {6}})->has_value() == false);
  const auto wrong = source->find({.name = "w", .shape = {2, 2}});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == diag::kTensorTypeConflict);
}

TEST_CASE("a weight can be rows of a tensor of another name") {
  const TemporaryDirectory directory;
  const Tensor table = tensor_of<float>(DType::kFloat32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const auto source =
      WeightSource::open(safetensors(directory, "w", {{"qkv", table}, {"b", kSix}}));
  REQUIRE(source);
  WeightRequest request{.name = "k", .shape = {2, 2}, .stored = {"qkv", StoredView::Rows{1, 3}}};
  const auto rows = source->prepare(request);
  REQUIRE(rows);
  REQUIRE(rows->has_value());
  CHECK_FALSE((*rows)->is_made());  // in the mapped file
  CHECK(bytes_of((*rows)->stored()) ==
        bytes_of(tensor_of<float>(DType::kFloat32, {2, 2}, {3, 4, 5, 6})));
  request.stored.rows = StoredView::Rows{2, 4};
  const auto beyond = source->find(request);
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().code == diag::kTensorTypeConflict);
  CHECK(beyond.error().message.find("rows 2 to 4 of Float32 [3, 2] are not [2, 2]") !=
        std::string::npos);
  request.stored.rows = StoredView::Rows{0, 3};
  request.shape = {3, 4};
  CHECK_FALSE(source->find(request));
  // A part of a vector, and one of several matrices in a tensor.
  const auto part =
      source->find({.name = "q", .shape = {2}, .stored = {"b", StoredView::Rows{4, 6}}});
  REQUIRE(part);
  CHECK(bytes_of(**part) == bytes_of(tensor_of<float>(DType::kFloat32, {2}, {5, 6})));
  CHECK(viewed_shape({3, 2, 4}, DType::kFloat32, {"e", StoredView::Rows{2, 4}}, {2, 4}) ==
        Shape{2, 4});
  CHECK(viewed_shape({3, 2, 4}, DType::kFloat32, {"e", StoredView::Rows{5, 7}}, {2, 4}) ==
        Shape{3, 2, 4});
}

TEST_CASE("interleaved halves of heads come apart in whole rows, of blocks too") {
  const TemporaryDirectory directory;
  Tensor table = *Tensor::allocate(DType::kFloat32, {8, 32});
  for (std::size_t i = 0; i < 256; ++i)
    table.as_mutable<float>()[i] = static_cast<float>(i / 32 + i % 32);
  const auto source = WeightSource::open(safetensors(directory, "w", {{"q", table}}));
  REQUIRE(source);
  WeightRequest request{.name = "q", .shape = {8, 32}, .stored = {.interleaved_heads = 2}};
  const auto tensor = source->find(request);
  REQUIRE(tensor);
  std::vector<float> first;
  for (int row = 0; row < 8; ++row) first.push_back((*tensor)->as<float>()[32 * row]);
  CHECK(first == std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7});
  const auto blocks = quantise(table, DType::kGgufQ8_0);
  REQUIRE(blocks);
  const auto of_blocks = without_interleaving(*blocks, 2);
  REQUIRE(of_blocks);
  CHECK(bytes_of(*dequantise(*of_blocks)) ==
        bytes_of(*without_interleaving(*dequantise(*blocks), 2)));
  CHECK_FALSE(without_interleaving(table, 3));
  CHECK_FALSE(without_interleaving(*blocks->reshaped({256}), 2));
}

TEST_CASE("invented weights that are one whole tensor are equal") {
  const auto source = WeightSource::open("random:1");
  REQUIRE(source);
  const auto named = source->find({.name = "a.weight", .shape = {2, 3}});
  const auto alias = source->find({.name = "b.weight", .shape = {2, 3}, .stored = {"a.weight"}});
  const auto part = source->find(
      {.name = "b.weight", .shape = {2, 3}, .stored = {"a.weight", StoredView::Rows{0, 2}}});
  REQUIRE(named);
  REQUIRE(alias);
  REQUIRE(part);
  CHECK(bytes_of(**named) == bytes_of(**alias));
  CHECK(bytes_of(**named) != bytes_of(**part));
}

TEST_CASE("another float type is converted only when the request allows it") {
  const TemporaryDirectory directory;
  const auto source = WeightSource::open(safetensors(directory, "w", {{"w", kSix}}));
  REQUIRE(source);
  WeightRequest request{.name = "w", .dtype = DType::kBFloat16, .shape = {3, 2}};
  const auto refused = source->find(request);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == diag::kTensorTypeConflict);
  request.convert_floats = true;
  const auto converted = source->find(request);
  REQUIRE(converted);
  CHECK((*converted)->dtype() == DType::kBFloat16);
  CHECK((*converted)->shape() == Shape{3, 2});
  CHECK((*converted)->as<std::uint16_t>()[2] == bf16_from_double(3));
  request.dtype = DType::kInt32;
  CHECK_FALSE(source->find(request));
}

TEST_CASE("a weight with numbers beyond the largest one of the requested type is refused") {
  const TemporaryDirectory directory;
  const Tensor large = tensor_of<float>(DType::kFloat32, {3}, {1, 70000, -70000});
  const auto source = WeightSource::open(safetensors(directory, "w", {{"w", large}}));
  REQUIRE(source);
  WeightRequest request{.name = "w", .dtype = DType::kFloat16, .shape = {3}};
  request.convert_floats = true;
  const auto refused = source->find(request);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == diag::kElementOutOfRange);
  CHECK(refused.error().message ==
        "weight 'w': 2 of 3 elements are beyond the largest Float16, the first is 70000 at "
        "element 1");
  request.dtype = DType::kBFloat16;
  CHECK(source->find(request));
}

TEST_CASE("quantised weights come from their plain storage type") {
  const TemporaryDirectory directory;
  const auto bytes = tensor_of<std::uint8_t>(DType::kUInt8, {3}, {7, 8, 9});
  const auto source = WeightSource::open(safetensors(directory, "w", {{"w", bytes}}));
  REQUIRE(source);
  const auto packed = source->find({.name = "w", .dtype = DType::kByte, .shape = {3}});
  REQUIRE(packed);
  CHECK((*packed)->dtype() == DType::kByte);
  CHECK(bytes_of(**packed) == "\7\10\11");
  CHECK_FALSE(source->find({.name = "w", .dtype = DType::kInt8PerTensor, .shape = {3}}));
}

TEST_CASE("the later source wins where two have a name") {
  const TemporaryDirectory directory;
  const auto one = tensor_of<float>(DType::kFloat32, {1}, {1});
  const auto two = tensor_of<float>(DType::kFloat32, {1}, {2});
  const auto three = tensor_of<float>(DType::kFloat32, {1}, {3});
  const NamedTensor archived[] = {{"b", three}, {"c", three}};
  REQUIRE(write_npz(directory.file("z"), archived));
  WeightSet set;
  REQUIRE(set.add("splat:0.5"));
  REQUIRE(set.add(safetensors(directory, "w", {{"a", one}, {"b", two}})));
  REQUIRE(set.add(directory.file("z")));
  const auto value = [&](std::string_view name) {
    return (*set.find({.name = name, .shape = {1}}))->as<float>()[0];
  };
  CHECK(value("a") == 1);
  CHECK(value("b") == 3);
  CHECK(value("c") == 3);
  CHECK(value("d") == 0.5f);
  CHECK(set.source_of("a") == &set.sources()[1]);
  CHECK(set.source_of("d")->invents());
  CHECK(WeightSet().source_of("d") == nullptr);
}

TEST_CASE("invented weights follow name, shape and seed") {
  const auto source = WeightSource::open("random:9");
  REQUIRE(source);
  const auto tensor = source->find({.name = "q.weight", .shape = {4, 12}});
  REQUIRE(tensor);
  const auto same = random_reals(RandomStream(9, "q.weight"), DType::kFloat32, {4, 12}, {0, 0.5});
  CHECK(bytes_of(**tensor) == bytes_of(*same));
  const auto norm = source->find({.name = "norm.weight", .shape = {64}});
  for (const float value : values_of<float>(**norm)) CHECK(std::abs(value - 1) <= 0.1f);
}

TEST_CASE("invented blocks are made of the invented numbers") {
  const auto source = WeightSource::open("random:9");
  REQUIRE(source);
  WeightRequest request{.name = "q.weight", .shape = {3, 64}};
  const auto reals = source->find(request);
  REQUIRE(reals);
  for (const DType dtype : {DType::kGgufQ8_0, DType::kGgufQ4_0}) {
    request.dtype = dtype;
    const auto blocks = source->find(request);
    REQUIRE(blocks);
    CHECK((*blocks)->dtype() == dtype);
    CHECK(bytes_of(**blocks) == bytes_of(*quantise(**reals, dtype)));
  }
  request.dtype = DType::kGgufQ4K;
  request.shape = {3, 256};
  CHECK(bytes_of(**source->find(request)) ==
        bytes_of(*random_blocks(RandomStream(9, "q.weight"), DType::kGgufQ4K, {3, 256},
                                {0, std::sqrt(3.0 / 256)})));
  request.dtype = DType::kGgufQ4_0;
  request.shape = {3, 63};
  CHECK(source->find(request).error().code == diag::kTensorDtypeUnsupported);
}

TEST_CASE("invented integers are 0 or lie below the bound") {
  const auto source = WeightSource::open("random:9");
  REQUIRE(source);
  WeightRequest request{.name = "ids", .dtype = DType::kInt32, .shape = {100}};
  const auto values = [&] { return values_of<std::int32_t>(**source->find(request)); };
  for (const auto value : values()) CHECK(value == 0);
  request.bound = 5;
  for (const auto value : values()) CHECK(value < 5);
  request.bound = 0;
  CHECK(source->find(request).error().code == diag::kRandomBoundInvalid);
  request.dtype = DType::kGgufIQ2XXS;
  CHECK(source->find(request).error().code == diag::kTensorDtypeUnsupported);
}

TEST_CASE("a constant is converted to the requested type") {
  const auto source = WeightSource::open("splat:0.1");
  REQUIRE(source);
  const auto half = source->find({.name = "w", .dtype = DType::kFloat16, .shape = {3}});
  REQUIRE(half);
  for (const auto bits : values_of<std::uint16_t>(**half)) CHECK(bits == f16_from_double(0.1));
  const auto integer = source->find({.name = "w", .dtype = DType::kInt8, .shape = {3}});
  REQUIRE_FALSE(integer);
  CHECK(integer.error().code == diag::kElementOutOfRange);
}

TEST_CASE("weight arguments that name nothing are refused") {
  const TemporaryDirectory directory;
  const auto code = [](std::string_view spec) {
    const auto source = WeightSource::open(spec);
    REQUIRE_FALSE(source);
    return source.error().code;
  };
  CHECK(code("random:") == diag::kTensorSpecInvalid);
  CHECK(code("random:-1") == diag::kTensorSpecInvalid);
  CHECK(code("random:18446744073709551616") == diag::kTensorSpecInvalid);
  CHECK(code("splat:") == diag::kTensorSpecInvalid);
  CHECK(code("splat:1,5") == diag::kTensorSpecInvalid);
  CHECK(code("") == diag::kFileNotReadable);
  CHECK(code(directory.file("none")) == diag::kFileNotReadable);
  CHECK(code(directory.write("t", "some text")) == diag::kUnknownTensorFile);
  CHECK(code(directory.write("e", "")) == diag::kUnknownTensorFile);
  CHECK(code(directory.write("z", "PK\3\4")) == diag::kNpzMalformed);
  CHECK(code(directory.write("s", little(2, 8) + "{]")) == diag::kSafetensorsMalformed);
}

#include "weights/random.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "mir/codes/tensors.hpp"
#include "temporary.hpp"
#include "weights/blocks.hpp"

using namespace mir;
using namespace mir::test;

TEST_CASE("Philox gives the published words") {
  using Words = std::array<std::uint32_t, 4>;
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("element i depends on seed, name and i alone") {
  const auto draw = [](std::uint64_t seed, std::string_view name, std::int64_t count) {
    return *random_reals(RandomStream(seed, name), DType::kFloat32, {count}, {});
  };
  const auto longer = draw(1, "w", 1003);
  const auto shorter = draw(1, "w", 6);
  CHECK(bytes_of(longer).substr(0, 24) == bytes_of(shorter));
  CHECK(bytes_of(draw(2, "w", 6)) != bytes_of(shorter));
  CHECK(bytes_of(draw(1, "v", 6)) != bytes_of(shorter));
}

TEST_CASE("reals follow the documented formula in every float type") {
  const RandomStream stream(7, "model.w");
  const Interval interval{0.25, 0.5};
  const auto doubles = random_reals(stream, DType::kFloat64, {9}, interval);
  REQUIRE(doubles);
  const auto words = philox({2, 0, 0, 0}, {static_cast<std::uint32_t>(stream.key),
                                           static_cast<std::uint32_t>(stream.key >> 32)});
  CHECK(doubles->as<double>()[8] == 0.25 + 0.5 * (words[0] / 2147483648.0 - 1.0));
  const auto floats = random_reals(stream, DType::kFloat32, {9}, interval);
  for (std::size_t i = 0; i < 9; ++i)
    CHECK(floats->as<float>()[i] == static_cast<float>(doubles->as<double>()[i]));
  CHECK_FALSE(random_reals(stream, DType::kInt32, {9}, interval));
}

TEST_CASE("the bits of a seed never change") {
  // From an implementation of docs/weights.md in another language.
  using Bits = std::vector<std::uint32_t>;
  const auto bits = [](std::uint64_t seed, std::string_view name) {
    return values_of<std::uint32_t>(
        *random_reals(RandomStream(seed, name), DType::kFloat32, {4}, {}));
  };
  CHECK(bits(0, "w") == Bits{0x3d63384f, 0xbe6f280d, 0xbf222526, 0xbeef8523});
  CHECK(bits(42, "model.layers.0.w") == Bits{0x3f5eb61e, 0xbf35357c, 0xbf27ab5d, 0xbf63251a});
}

TEST_CASE("matrices have variance 1 / fan_in, norms lie near 1 and biases near 0") {
  struct Case {
    std::string name;
    Shape shape;
    double centre;
    double half_width;
  };
  const Case cases[] = {
      {"q_proj.weight", {8, 12}, 0, 0.5},
      {"conv.weight", {4, 3, 2, 2}, 0, 0.5},
      {"q_proj.bias", {8}, 0, 0.01},
      {"norm.bias", {8}, 0, 0.01},
      {"bias", {}, 0, 0.01},
      {"input_layernorm.weight", {8}, 1, 0.1},
      {"blk.norm.weight", {1, 1, 8}, 1, 0.1},
      {"ln_f.weight", {1, 8}, 1, 0.1},
      {"scale", {8}, 1, 0.1},
      {"norm.q_proj.weight", {8, 12}, 0, 0.5},
      {"unbias", {8, 12}, 0, 0.5},
      {"empty.weight", {8, 0}, 0, std::sqrt(3.0)},
  };
  for (const auto& test : cases) {
    CAPTURE(test.name);
    const auto interval = weight_interval(test.name, test.shape);
    CHECK(interval.centre == test.centre);
    CHECK(interval.half_width == test.half_width);
  }
}

TEST_CASE("random weights have the mean and variance of their interval") {
  const Shape shape = {300, 400};
  const auto tensor = random_reals(RandomStream(3, "w"), DType::kFloat32, shape,
                                   weight_interval("w.weight", shape));
  REQUIRE(tensor);
  double sum = 0;
  double squares = 0;
  for (const double value : tensor->as<float>()) {
    REQUIRE(std::abs(value) <= 0.0867);
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(tensor->elements());
  CHECK(std::abs(sum / count) < 1e-3);
  CHECK(squares / count == doctest::Approx(1.0 / 400).epsilon(0.01));
}

TEST_CASE("random integers lie below their bound and reach every value") {
  const auto tensor = random_integers(RandomStream(1, "ids"), DType::kInt64, {1000}, 10);
  REQUIRE(tensor);
  std::array<int, 10> counts{};
  for (const auto value : tensor->as<std::int64_t>()) ++counts.at(static_cast<std::size_t>(value));
  for (const int count : counts) CHECK(count > 60);
}

TEST_CASE("a bound must lie in 1 to 2^32 and fit the type") {
  const RandomStream stream(1, "ids");
  const auto fits = [&](DType dtype, std::int64_t bound) {
    const auto tensor = random_integers(stream, dtype, {3}, bound);
    if (!tensor) CHECK(tensor.error().code == diag::kRandomBoundInvalid);
    return tensor.ok();
  };
  CHECK(fits(DType::kUInt8, 256));
  CHECK_FALSE(fits(DType::kUInt8, 257));
  CHECK(fits(DType::kInt8PerTensor, 128));
  CHECK_FALSE(fits(DType::kInt8PerTensor, 129));
  CHECK(fits(DType::kBool, 2));
  CHECK_FALSE(fits(DType::kBool, 3));
  CHECK_FALSE(fits(DType::kInt32, 0));
  CHECK_FALSE(fits(DType::kInt32, -5));
  CHECK(fits(DType::kInt64, std::int64_t{1} << 32));
  CHECK_FALSE(fits(DType::kInt64, (std::int64_t{1} << 32) + 1));
}

TEST_CASE("random blocks lie in their interval, around 0, and reach its ends") {
  constexpr DType kTypes[] = {
      DType::kGgufQ4_1,   DType::kGgufQ5_0,   DType::kGgufQ5_1, DType::kGgufQ2K, DType::kGgufQ3K,
      DType::kGgufQ4K,    DType::kGgufQ5K,    DType::kGgufQ6K,  DType::kGgufQ8K, DType::kGgufQ4_0x4,
      DType::kGgufQ4_0x8, DType::kGgufQ8_0x4, DType::kMXFP4};
  const Shape shape = {64, 512};
  const Interval interval = weight_interval("w.weight", shape);
  for (const DType dtype : kTypes) {
    CAPTURE(std::string(name_of(dtype)));
    CHECK(is_random_block(dtype));
    const auto blocks = random_blocks(RandomStream(3, "w"), dtype, shape, interval);
    REQUIRE(blocks);
    CHECK(bytes_of(*blocks) ==
          bytes_of(*random_blocks(RandomStream(3, "w"), dtype, shape, interval)));
    double sum = 0, largest = 0, squares = 0;
    for (const double value : values_of<float>(*dequantise(*blocks))) {
      sum += value;
      squares += value * value;
      largest = std::max(largest, std::abs(value));
    }
    const auto count = static_cast<double>(blocks->elements());
    CHECK(largest < 1.01 * interval.half_width);
    CHECK(largest > 0.5 * interval.half_width);  // MXFP4 has powers of two alone
    CHECK(std::abs(sum / count) < 0.08 * interval.half_width);
    CHECK(std::sqrt(squares / count) > 0.1 * interval.half_width);
  }
  CHECK_FALSE(random_blocks(RandomStream(3, "w"), DType::kGgufIQ2XXS, {256}, interval));
  CHECK_FALSE(random_blocks(RandomStream(3, "w"), DType::kGgufQ4K, {2, 128}, interval));
  CHECK_FALSE(random_blocks(RandomStream(3, "w"), DType::kGgufQ4_0x8, {4, 64}, interval));
}

TEST_CASE("bytes of random blocks follow the documented formula") {
  const RandomStream stream(7, "w");
  const auto bytes =
      values_of<std::uint8_t>(*random_integers(stream, DType::kUInt8, {2 * 292}, 256));
  const auto floats = random_blocks(stream, DType::kMXFP4, {1, 64}, {0, 0.1});
  REQUIRE(floats);
  const auto mx =
      values_of<std::uint8_t>(*Tensor::borrow(DType::kUInt8, {34}, floats->bytes(), {}));
  CHECK(mx[16] == 127 - 6);  // 6 / 64 is below 0.1, 6 / 32 is not
  CHECK(mx[17] == bytes[17]);
  const auto sums = random_blocks(stream, DType::kGgufQ8K, {256}, {0, 1});
  REQUIRE(sums);
  const auto* block = reinterpret_cast<const std::uint8_t*>(sums->bytes().data());
  int sum = 0;
  for (int i = 0; i < 16; ++i) {
    CHECK(block[4 + i] == bytes[static_cast<std::size_t>(4 + i)]);
    sum += static_cast<std::int8_t>(block[4 + i]);
  }
  CHECK(static_cast<std::int16_t>(block[260] | block[261] << 8) == sum);
}

#include "weights/blocks.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "../numeric.hpp"
#include "gguf_bytes.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/weights.hpp"
#include "weights/elements.hpp"

using namespace mir;
using namespace mir::test;

namespace {

Tensor blocks(DType dtype, std::int64_t elements, const std::string& bytes) {
  auto tensor = Tensor::allocate(dtype, {elements});
  REQUIRE(tensor->bytes().size() == bytes.size());
  std::memcpy(tensor->mutable_bytes(), bytes.data(), bytes.size());
  return *std::move(tensor);
}

Tensor floats(const std::vector<float>& values) {
  auto tensor = Tensor::allocate(DType::kFloat32, {static_cast<std::int64_t>(values.size())});
  std::ranges::copy(values, tensor->as_mutable<float>().begin());
  return *std::move(tensor);
}

const std::string kHalf = little(f16_from_double(0.5), 2);
const std::string kOne = little(f16_from_double(1), 2);

}  // namespace

// The formulas are held bit by bit to an evaluation in NumPy by the oracle tests.
TEST_CASE("blocks of 32 hold scaled codes") {
  const auto value = [](DType dtype, const std::string& bytes) {
    return values_of<float>(*dequantise(blocks(dtype, 32, bytes)));
  };
  const auto q4 = value(DType::kGgufQ4_0, kHalf + "\x1F" + std::string(15, '\x88'));
  CHECK(q4[0] == 3.5f);    // 15 - 8
  CHECK(q4[16] == -3.5f);  // 1 - 8
  CHECK(q4[1] == 0);
  const auto q4_1 = value(DType::kGgufQ4_1, kHalf + kOne + "\x1F" + std::string(15, '\0'));
  CHECK(q4_1[0] == 8.5f);
  CHECK(q4_1[16] == 1.5f);
  CHECK(q4_1[31] == 1);
  const auto q5 = value(DType::kGgufQ5_0, kHalf + little(0x80000001, 4) + std::string(16, '\0'));
  CHECK(q5[0] == 0);
  CHECK(q5[1] == -8);
  CHECK(q5[31] == 0);
  const auto q8 = value(DType::kGgufQ8_0, kHalf + "\x80" + std::string(31, '\x7F'));
  CHECK(q8[0] == -64);
  CHECK(q8[31] == 63.5f);
}

TEST_CASE("MXFP4 means signed magnitudes times a power of two") {
  std::string bytes(17, '\0');
  bytes[0] = '\x7F';  // 6 above -6
  bytes[15] = '\x21';
  bytes[16] = static_cast<char>(127 - 2);
  const auto values = values_of<float>(*dequantise(blocks(DType::kMXFP4, 32, bytes)));
  CHECK(values[0] == -1.5f);
  CHECK(values[16] == 1.5f);
  CHECK(values[15] == 0.125f);
  CHECK(values[31] == 0.25f);
  CHECK(values[1] == 0);
  bytes[16] = '\0';
  CHECK(dequantise(blocks(DType::kMXFP4, 32, bytes))->as<float>()[15] == 0x1p-128f);
  bytes[16] = '\xFF';
  CHECK(std::isnan(dequantise(blocks(DType::kMXFP4, 32, bytes))->as<float>()[1]));
  CHECK_FALSE(rounds_activations(DType::kMXFP4));
}

TEST_CASE("MIR_Q4_A32 means codes times a Float32 scale plus a Float32 term, rounded once") {
  const auto values = [](float scale, float term, const std::string& codes) {
    return values_of<float>(*dequantise(blocks(DType::kMirQ4A32, 32,
                                               little(std::bit_cast<std::uint32_t>(scale), 4) +
                                                   little(std::bit_cast<std::uint32_t>(term), 4) +
                                                   codes + std::string(15, '\x88'))));
  };
  const auto plain = values(0.5f, 100, "\xF0");
  CHECK(plain[0] == 96);       // -8
  CHECK(plain[16] == 103.5f);  // 7
  CHECK(plain[1] == 100);
  // The product is not rounded, and the sum not to double before it is to Float32.
  CHECK(values(1 + 0x1p-23f, -3, "\x0B")[0] == 3 * 0x1p-23f);
  CHECK(values(1 + 0x1p-23f, -0x1p-60f, "\x0B")[0] == 3 + 0x1p-22f);
  // A term of -0 keeps the sign of zeros.
  CHECK(std::signbit(values(-1, -0.0f, "\x08")[0]));
  CHECK_FALSE(std::signbit(values(1, -0.0f, "\x08")[0]));
  CHECK(rounds_activations(DType::kMirQ4A32));
}

TEST_CASE("scales that are not finite give values that are not finite") {
  const auto infinite = blocks(DType::kGgufQ8_0, 32, little(0x7C00, 2) + std::string(32, '\1'));
  CHECK(std::isinf(dequantise(infinite)->as<float>()[0]));
  const auto nan = blocks(DType::kGgufQ4_0, 32, little(0x7E00, 2) + std::string(16, '\1'));
  CHECK(std::isnan(dequantise(nan)->as<float>()[0]));
}

TEST_CASE("types without a decoder are refused") {
  CHECK_FALSE(is_decodable_block(DType::kGgufIQ2XXS));
  const auto refused = dequantise(*Tensor::allocate(DType::kGgufIQ2XXS, {256}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == diag::kTensorDtypeUnsupported);
}

TEST_CASE("interleaved blocks are the rows' own blocks side by side") {
  struct Case {
    DType dtype;
    DType row;
    std::size_t rows;
    std::size_t run;
    char mask;
  };
  const Case cases[] = {{DType::kGgufQ4_0x4, DType::kGgufQ4_0, 4, 4, '\x88'},
                        {DType::kGgufQ4_0x8, DType::kGgufQ4_0, 8, 8, '\x88'},
                        {DType::kGgufQ8_0x4, DType::kGgufQ8_0, 4, 4, '\0'}};
  constexpr std::size_t kBlocks = 3;
  for (const Case& test : cases) {
    CAPTURE(std::string(name_of(test.dtype)));
    const std::size_t rows = 2 * test.rows, bytes = info(test.row).unit_bytes;
    std::mt19937 random(5);
    std::string plain(rows * kBlocks * bytes, '\0');
    for (char& byte : plain) byte = static_cast<char>(random() & 0xFF);
    const auto block = [&](std::size_t row, std::size_t at) {
      return std::span(plain).subspan((row * kBlocks + at) * bytes, bytes);
    };
    for (std::size_t i = 0; i < rows * kBlocks; ++i)
      std::ranges::copy(i % 2 == 0 ? kHalf : kOne, block(0, i).begin());
    std::string packed;
    for (std::size_t group = 0; group < rows; group += test.rows) {
      for (std::size_t at = 0; at < kBlocks; ++at) {
        for (std::size_t r = 0; r < test.rows; ++r)
          packed.append(block(group + r, at).begin(), block(group + r, at).begin() + 2);
        for (std::size_t i = 2; i < bytes; i += test.run)
          for (std::size_t r = 0; r < test.rows; ++r)
            for (const char byte : block(group + r, at).subspan(i, test.run))
              packed += static_cast<char>(byte ^ test.mask);
      }
    }
    const auto shaped = [&](DType dtype, const std::string& from) {
      return *blocks(dtype, static_cast<std::int64_t>(rows * kBlocks * 32), from)
                  .reshaped({static_cast<std::int64_t>(rows), kBlocks * 32});
    };
    CHECK(values_of<float>(*dequantise(shaped(test.dtype, packed))) ==
          values_of<float>(*dequantise(shaped(test.row, plain))));
    const auto flat =
        shaped(test.dtype, packed).reshaped({1, static_cast<std::int64_t>(rows * kBlocks * 32)});
    CHECK(dequantise(*flat).error().message ==
          std::string(name_of(test.dtype)) +
              " takes rows of a multiple of 32 elements, a multiple of " +
              std::to_string(test.rows) + " of them");
  }
}

TEST_CASE("quantised values are within half a step of the values") {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::vector<float> values(32 * 64);
  for (float& value : values) value = uniform(random);
  for (const auto dtype : {DType::kGgufQ8_0, DType::kGgufQ4_0, DType::kMirQ4A32}) {
    CAPTURE(std::string(name_of(dtype)));
    const auto coded = quantise(floats(values), dtype);
    REQUIRE(coded);
    const auto back = values_of<float>(*dequantise(*coded));
    for (std::size_t i = 0; i < values.size(); ++i) {
      float largest = 0;
      for (std::size_t j = i / 32 * 32; j < i / 32 * 32 + 32; ++j)
        largest = std::max(largest, std::fabs(values[j]));
      const auto block = std::span(values).subspan(i / 32 * 32, 32);
      if (dtype == DType::kMirQ4A32) {
        const float range = std::ranges::max(block) - std::ranges::min(block);
        CHECK(std::fabs(back[i] - values[i]) <= range * 0.50001f / 15);
        continue;
      }
      // Half a step, the step's own rounding to Float16 times the code, and for Q4_0 the one end of
      // the range that has 7 steps where the other has 8.
      const float step = largest / (dtype == DType::kGgufQ8_0 ? 127 : 8);
      const float bound = dtype == DType::kGgufQ8_0 ? 0.57f * step : 1.01f * step;
      CHECK(std::fabs(back[i] - values[i]) <= bound);
    }
  }
}

TEST_CASE("blocks have the codes of the reference formulas") {
  std::vector<float> values(32, 0);
  values[0] = -4;
  values[1] = 3.9f;
  values[16] = 0.26f;
  const auto q4 = bytes_of(*quantise(floats(values), DType::kGgufQ4_0));
  CHECK(q4.substr(0, 2) == kHalf);
  CHECK(q4[2] == '\x90');  // -4 / 0.5 + 8 = 0; 0.26 / 0.5 rounds to 1
  CHECK(q4[3] == '\x8F');  // 3.9 / 0.5 + 8 is over the largest code
  values[1] = 3.5f;
  const auto a32 = bytes_of(*quantise(floats(values), DType::kMirQ4A32));
  CHECK(a32.substr(0, 8) == little(std::bit_cast<std::uint32_t>(0.5f), 4) + std::string(4, '\0'));
  CHECK(a32.substr(8, 3) == "\x90\x8F\x88");  // 3.5 / 0.5 is 7
  values[0] = -127;
  values[1] = 3.9f;
  const auto q8 = bytes_of(*quantise(floats(values), DType::kGgufQ8_0));
  CHECK(q8.substr(0, 2) == kOne);
  CHECK(q8.substr(2, 2) == std::string("\x81\x04"));
}

// The bytes are those of quantize_row_q4_K_ref() of ggml (d99724f2), compiled without contraction.
TEST_CASE("blocks of GGUF_Q4_K have the bits of the reference") {
  std::vector<float> values(256);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    state = state * 1664525 + 1013904223;
    const auto run = i / 32;
    const auto number = static_cast<float>(static_cast<int>(state >> 16) - 32768) / 4096;
    values[i] = run == 5 ? 0.25F : number * static_cast<float>(run + 1);
  }
  std::string hex;
  for (const char byte : bytes_of(*quantise(floats(values), DType::kGgufQ4K))) {
    for (const int half : {byte >> 4 & 15, byte & 15}) hex += "0123456789abcdef"[half];
  }
  CHECK(hex ==
        "852f1d3b8912dae68911dae3ad00ff9f54e6588b71f6dca8e0ea2456a92d742f9dd55a08e332c105520b5926"
        "c46b2e939cbe6070cf4c07569a1f4b3736b27e9b8ae97841e6a99f658c14decf07368500f8f7f6f6f0fafefb"
        "f7fcf5f9fef4fbf8f8f2f0f8fcf1f0fef3f4f4f6fbf4f3f14d363d062951e9b517b290824ec6597825589ea1"
        "54bc9797cbcdf7caf349823f");
  const auto zeros = quantise(floats(std::vector<float>(256, 0)), DType::kGgufQ4K);
  CHECK(bytes_of(*zeros) == std::string(144, '\0'));
}

TEST_CASE("a block of zeros has a scale of zero, tiny values do no harm") {
  const auto zeros = quantise(floats(std::vector<float>(32, 0)), DType::kGgufQ8_0);
  CHECK(bytes_of(*zeros) == std::string(34, '\0'));
  CHECK(bytes_of(*quantise(floats(std::vector<float>(32, 0)), DType::kGgufQ4_0)).substr(2) ==
        std::string(16, '\x88'));
  for (const float same : {-0.3f, 3e38f})
    CHECK(values_of<float>(
              *dequantise(*quantise(floats(std::vector<float>(32, same)), DType::kMirQ4A32))) ==
          std::vector<float>(32, same));
  std::vector<float> tiny(32, 1e-45f);
  tiny[3] = 0;
  for (const auto dtype : {DType::kGgufQ8_0, DType::kGgufQ4_0})
    for (const float value : values_of<float>(*dequantise(*quantise(floats(tiny), dtype))))
      CHECK(value == 0);
}

TEST_CASE("what has no scale or no blocks is not quantised") {
  const auto code = [](const Tensor& tensor, DType to) {
    const auto refused = quantise(tensor, to);
    REQUIRE_FALSE(refused);
    return refused.error().code;
  };
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf(""), 1e30f}) {
    std::vector<float> values(32, 1);
    values[5] = bad;
    CHECK(code(floats(values), DType::kGgufQ8_0) == diag::kElementOutOfRange);
    CHECK(code(floats(values), DType::kGgufQ4_0) == diag::kElementOutOfRange);
    if (!std::isfinite(bad))
      CHECK(code(floats(values), DType::kMirQ4A32) == diag::kElementOutOfRange);
  }
  constexpr float kMost = std::numeric_limits<float>::max();
  for (const float least : {-kMost, -2.88127463e38f, -1.2e38f, -3e38f, 1e38f, 3.3e38f}) {
    for (const float sign : {1.0F, -1.0F}) {
      std::vector<float> widest(32, sign * kMost);
      widest[7] = sign * least;
      const auto values =
          values_of<float>(*dequantise(*quantise(floats(widest), DType::kMirQ4A32)));
      CAPTURE(least);
      CHECK(not_within(1e-6 * kMost, values, widest) == "");
    }
  }
  CHECK(code(floats(std::vector<float>(16)), DType::kGgufQ8_0) == diag::kTensorDtypeUnsupported);
  CHECK(code(*Tensor::allocate(DType::kFloat16, {32}), DType::kGgufQ8_0) ==
        diag::kTensorDtypeUnsupported);
  CHECK(code(floats(std::vector<float>(256)), DType::kGgufQ6K) == diag::kTensorDtypeUnsupported);
  CHECK(code(floats(std::vector<float>(128)), DType::kGgufQ4K) == diag::kTensorDtypeUnsupported);
  CHECK(code(floats(std::vector<float>(256, 3e38f)), DType::kGgufQ4K) == diag::kElementOutOfRange);
}

TEST_CASE(
    "blocks of a file are weights of a float type, or stay blocks where those are asked for") {
  const TemporaryDirectory directory;
  GgufParts parts{.tensors = {{.name = "w", .dims = {32, 1}, .type = 8}}, .data = 0};
  const auto source =
      WeightSource::open(directory.write("w.gguf", parts.bytes() + kHalf + std::string(32, '\2')));
  REQUIRE(source);
  WeightRequest request{.name = "w", .dtype = DType::kFloat16, .shape = {1, 32}};
  CHECK_FALSE(source->find(request));
  request.convert_floats = true;
  const auto halves = source->find(request);
  REQUIRE(halves);
  CHECK((*halves)->as<std::uint16_t>()[31] == f16_from_double(1));
  request.dtype = DType::kGgufQ8_0;
  CHECK(bytes_of(**source->find(request)) == kHalf + std::string(32, '\2'));
  request.dtype = DType::kInt8;
  CHECK_FALSE(source->find(request));
}

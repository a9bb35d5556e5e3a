#include "weights/kleidi.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>

#include "mir/codes/tensors.hpp"
#include "temporary.hpp"
#include "weights/blocks.hpp"
#include "weights/elements.hpp"

using namespace mir;
using namespace mir::test;

namespace {

using Kind = KleidiLayout::Kind;

Result<UnpackedLinear> unpack(std::string_view layout, std::int64_t rows, std::int64_t columns,
                              const std::string& bytes) {
  return unpack_kleidi(*kleidi_layout(layout), rows, columns, std::as_bytes(std::span(bytes)));
}

std::string floats(float value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += little(std::bit_cast<std::uint32_t>(value), 4);
  return bytes;
}

}  // namespace

TEST_CASE("layouts are read from the names of kernels") {
  const auto text = [](std::string_view name) {
    const auto layout = kleidi_layout(name);
    if (!layout) return std::string("none");
    return std::to_string(static_cast<int>(layout->kind)) + " " + std::to_string(layout->rows) +
           "x" + std::to_string(layout->run);
  };
  CHECK(text("KaiLinear_f32_qai8dxp_qsi4c32p_mxk_nxk_qai8dxp1x8_qsi4c32p8x8_1x8x32") == "0 8x8");
  CHECK(text("KaiLinear_f32_qai8dxp_qsi4c32p_mxk_nxk_qai8dxp1x4_qsi4c32p4x4_1x4") == "0 4x4");
  CHECK(text("KaiLinear_f16_qsi8d32p_qai4c32p_mxk_nxk_qsi8d32p4x8_qai4c32p4x8_8x4_i8mm") ==
        "1 4x8");
  CHECK(text("KaiLinear_f32_qsi8d32p_qai4c32p_mxk_nxk_qsi8d32p1vlx4_qai4c32p4vlx4_1vlx4vl_sme2_"
             "mopa") == "none");
  CHECK(text("KaiLinear_fp16_fp16_fp16p_mxk_kxn") == "2 16x1");
  CHECK(text("qsi4c32p4x8") == "0 4x8");
  CHECK(text("qsi4c32p3x8") == "none");
  CHECK(text("qsi4c32p4x80") == "none");
  CHECK(text("GGUF") == "none");
  CHECK(text("") == "none");
}

TEST_CASE("packed sizes are those of upstream's dumps") {
  const KleidiLayout layout{Kind::kQsi4c32p, 8, 8};
  CHECK(kleidi_bytes(layout, 3840, 1280) == 2795520);
  CHECK(kleidi_bytes(layout, 151936, 1536) == 132488192);
  CHECK(kleidi_bytes(layout, 3, 33) == 8 * (18 * 2 + 8));
  CHECK(kleidi_bytes({Kind::kFp16p, 16, 1}, 17, 5) == 2 * 32 * 6);
  CHECK_FALSE(kleidi_bytes({Kind::kQai4c32p, 4, 8}, 4, 33));
  CHECK_FALSE(kleidi_bytes(layout, 0, 32));
  CHECK_FALSE(kleidi_bytes(layout, 32, -1));
  CHECK_FALSE(kleidi_bytes(layout, std::int64_t{1} << 31, std::int64_t{1} << 31));
}

// Whole matrices are held to a packer in NumPy by the oracle tests.
TEST_CASE("codes, scales and biases lie where the layout says") {
  const auto scale = little(bf16_from_double(0.5), 2);
  std::string block(64, '\0');
  block[0] = '\x7F';                   // row 0: column 0 is -1, column 16 is 7
  block[8] = '\x08';                   // row 1, column 0: -8
  block[(1 * 4 + 2) * 8 + 3] = '\x1';  // row 2, column 8 + 3
  const auto packed = block + scale + scale + scale + scale + floats(9, 4) + floats(1.5f, 4);
  const auto result = unpack("qsi4c32p4x8", 3, 32, packed);
  REQUIRE(result);
  const auto weight = result->weight.as<float>();
  CHECK(weight[0] == -0.5f);
  CHECK(weight[16] == 3.5f);
  CHECK(weight[32] == -4);
  CHECK(weight[64 + 11] == 0.5f);
  CHECK(values_of<float>(result->bias) == std::vector<float>{1.5f, 1.5f, 1.5f});
  const auto half = little(f16_from_double(2), 2);
  std::string panel;
  for (int i = 0; i < 16 * 3; ++i) panel += i == 17 ? half : little(0, 2);
  const auto plain = unpack("fp16p", 2, 2, panel);
  REQUIRE(plain);
  CHECK(values_of<float>(plain->weight) == std::vector<float>{0, 0, 2, 0});
}

TEST_CASE("blocks of MIR_Q4_A32 hold what is packed, bit by bit") {
  std::mt19937 bits(17);
  const auto some = [&](int count) {
    std::string bytes;
    while (count-- > 0) bytes += static_cast<char>(bits() >> 24);
    return bytes;
  };
  // Of 7 rows of 96: scales and terms of any bits that a scale can have, nothing else repeated.
  const auto single = [&] {
    const std::uint32_t any = static_cast<std::uint32_t>(bits());
    return little((any & ~0x7f800000U) | (any % 251U) << 23U, 4);  // 16 times that is finite
  };
  for (const std::string layout : {"qsi4c32p4x4", "qsi4c32p4x8", "qsi4c32p8x4", "qsi4c32p8x8",
                                   "qai4c32p4x4", "qai4c32p4x8", "qai4c32p8x4", "qai4c32p8x8"}) {
    CAPTURE(layout);
    const int rows = layout[8] - '0';
    std::string packed;
    for (int group = 0; group < (rows == 4 ? 2 : 1); ++group) {
      for (int block = 0; block < 3; ++block) {
        packed += some(16 * rows);
        for (int row = 0; row < (layout[1] == 's' ? rows : 2 * rows); ++row)
          packed += layout[1] == 's' ? single().substr(2) : single();
      }
      packed += floats(1.5f, layout[1] == 's' ? 2 * rows : rows);
    }
    const auto plain = unpack(layout, 7, 96, packed);
    REQUIRE(plain);
    const auto repacked = unpack_kleidi(*kleidi_layout(layout), 7, 96,
                                        std::as_bytes(std::span(packed)), DType::kMirQ4A32);
    REQUIRE(repacked);
    CHECK(repacked->weight.dtype() == DType::kMirQ4A32);
    CHECK(bytes_of(*dequantise(repacked->weight)) == bytes_of(plain->weight));
    CHECK(bytes_of(repacked->bias) == bytes_of(plain->bias));
  }
}

TEST_CASE("what blocks of MIR_Q4_A32 cannot hold is refused") {
  const auto error = [](std::string_view layout, std::int64_t columns, const std::string& bytes,
                        DType to = DType::kMirQ4A32) {
    const auto refused =
        unpack_kleidi(*kleidi_layout(layout), 4, columns, std::as_bytes(std::span(bytes)), to);
    REQUIRE_FALSE(refused);
    return refused.error().message;
  };
  const auto block = [](float scale) {
    return std::string(64, '\x11') + floats(0, 4) + floats(1, 2) + floats(scale, 1) + floats(1, 1) +
           floats(0, 4);
  };
  CHECK(error("qai4c32p4x8", 32, block(0x1p124f)) ==
        "the scale of row 2, block 0, is too large for Float32");
  // As Float32 it has elements.
  CHECK(unpack("qai4c32p4x8", 4, 32, block(0x1p124f))->weight.as<float>()[64] == HUGE_VALF);
  CHECK(unpack("qai4c32p4x8", 4, 32, block(0x1p123f))->weight.as<float>()[64] == 0x1p127f);
  CHECK(error("fp16p", 32, std::string(16 * 2 * 33, '\0')) ==
        "a matrix of 32 columns in this layout cannot become MIR_Q4_A32");
  CHECK(error("qsi4c32p4x8", 40, std::string(4 * 44, '\0')) ==
        "a matrix of 40 columns in this layout cannot become MIR_Q4_A32");
  CHECK(error("qsi4c32p4x8", 32, std::string(4 * 26, '\0'), DType::kGgufQ4_0) ==
        "a matrix of 32 columns in this layout cannot become GGUF_Q4_0");
}

TEST_CASE("packed bytes of another number are refused") {
  for (const std::size_t size : {0, 351, 353}) {
    const auto result = unpack("qsi4c32p8x8", 8, 64, std::string(size, '\0'));
    REQUIRE_FALSE(result);
    CHECK(result.error().code == diag::kTensorStorage);
  }
  CHECK(unpack("qsi4c32p8x8", 8, 64, std::string(352, '\0')));
  CHECK_FALSE(unpack("qai4c32p4x8", 4, 40, std::string(4 * 52, '\0')));
}

// KleidiAI makes the scale from the number of the largest magnitude, which gets the code -8.
TEST_CASE("packed codes mean the same numbers as blocks of Q4_0") {
  std::mt19937 bits(91);
  std::string packed;
  for (int block = 0; block < 2; ++block) {
    std::string codes(128, '\0');
    for (char& code : codes) code = static_cast<char>(bits());
    // A code of -8 for each row.
    for (std::size_t row = 0; row < 8; ++row) codes[row * 8 + block] = '\x78';
    packed += codes;
    for (int row = 0; row < 8; ++row) {
      packed += little(
          bf16_from_double(std::ldexp(1 + static_cast<double>(bits() % 128) / 128, -6 - row)), 2);
    }
  }
  const auto result = unpack("qsi4c32p8x8", 8, 64, packed + floats(0, 16));
  REQUIRE(result);
  const auto blocks = quantise(result->weight, DType::kGgufQ4_0);
  REQUIRE(blocks);
  const auto same = dequantise(*blocks);
  REQUIRE(same);
  CHECK(values_of<float>(*same) == values_of<float>(result->weight));
}

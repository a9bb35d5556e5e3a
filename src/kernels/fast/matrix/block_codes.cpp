// Decodes block formats of ggml and MIR_Q4_A32 to runs of codes, scales and minima.
#include "kernels/fast/matrix/block_codes.hpp"

#include <cstring>

#include "kernels/ref/numeric.hpp"

namespace mir::fast {

namespace {

using Byte = std::uint8_t;

std::uint16_t half_at(const Byte* at) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}

float value_of_half(std::uint16_t bits) {
  return static_cast<float>(ref::widen(ref::Half{bits}));
}

void set_scale(const Byte* at, BlockRun& to) {
  to.scale_bits = half_at(at);
  to.scale = value_of_half(to.scale_bits);
  to.minimum_bits = 0;
  to.minimum = 0;
}

void set_minimum(const Byte* at, BlockRun& to) {
  to.minimum_bits = half_at(at);
  to.minimum = value_of_half(to.minimum_bits);
}

/// 16 bytes: the low bits of elements 0 to 15, the high ones of elements 16 to 31.
void set_nibbles(const Byte* from, BlockRun& to) {
  for (std::size_t i = 0; i < 16; ++i) {
    to.codes[i] = from[i] & 15;
    to.codes[i + 16] = from[i] >> 4;
  }
}

/// Bit i of a little-endian number of 32 bits becomes the fifth bit of code i.
void add_fifth_bits(const Byte* bits, BlockRun& to) {
  for (std::size_t i = 0; i < to.codes.size(); ++i) {
    to.codes[i] = static_cast<Byte>(to.codes[i] | (bits[i / 8] >> (i % 8) & 1) << 4);
  }
}

void read_q4_0(const Byte* row, std::int64_t run, BlockRun& to) {
  const Byte* const block = row + run * 18;
  set_scale(block, to);
  set_nibbles(block + 2, to);
}

void read_q4_1(const Byte* row, std::int64_t run, BlockRun& to) {
  const Byte* const block = row + run * 20;
  set_scale(block, to);
  set_minimum(block + 2, to);
  set_nibbles(block + 4, to);
}

void read_q5_0(const Byte* row, std::int64_t run, BlockRun& to) {
  const Byte* const block = row + run * 22;
  set_scale(block, to);
  set_nibbles(block + 6, to);
  add_fifth_bits(block + 2, to);
}

void read_q5_1(const Byte* row, std::int64_t run, BlockRun& to) {
  const Byte* const block = row + run * 24;
  set_scale(block, to);
  set_minimum(block + 2, to);
  set_nibbles(block + 8, to);
  add_fifth_bits(block + 4, to);
}

void read_q8_0(const Byte* row, std::int64_t run, BlockRun& to) {
  const Byte* const block = row + run * 34;
  set_scale(block, to);
  std::memcpy(to.codes.data(), block + 2, to.codes.size());
}

/// d, dmin, then eight pairs of 6 bits in 12 bytes; products with 11 and 6 bits are exact.
void set_pair(const Byte* block, std::int64_t j, BlockRun& to) {
  const Byte* const packed = block + 4;
  const int scale = j < 4 ? packed[j] & 63 : (packed[j + 4] & 15) | packed[j - 4] >> 6 << 4;
  const int minimum = j < 4 ? packed[j + 4] & 63 : packed[j + 4] >> 4 | packed[j] >> 6 << 4;
  to.scale = value_of_half(half_at(block)) * static_cast<float>(scale);
  to.minimum = -value_of_half(half_at(block + 2)) * static_cast<float>(minimum);
}

/// 32 bytes hold two runs, the first in their low bits.
void set_half_bytes(const Byte* from, std::int64_t run, BlockRun& to) {
  for (std::size_t i = 0; i < to.codes.size(); ++i) {
    to.codes[i] = run % 2 == 0 ? from[i] & 15 : from[i] >> 4;
  }
}

void read_q4_k(const Byte* row, std::int64_t run, BlockRun& to) {
  const Byte* const block = row + run / 8 * 144;
  const std::int64_t j = run % 8;
  set_pair(block, j, to);
  set_half_bytes(block + 16 + j / 2 * 32, j, to);
}

void read_q5_k(const Byte* row, std::int64_t run, BlockRun& to) {
  const Byte* const block = row + run / 8 * 176;
  const std::int64_t j = run % 8;
  set_pair(block, j, to);
  set_half_bytes(block + 48 + j / 2 * 32, j, to);
  for (std::size_t i = 0; i < to.codes.size(); ++i) {
    to.codes[i] = static_cast<Byte>(to.codes[i] | (block[16 + i] >> j & 1) << 4);
  }
}

// K types with runs of 16: number j of a block. Products of 11 with 8 bits are exact.

constexpr std::size_t kShortRun = 16;

/// 2 bits of each of 16 elements, at their place in 64 bytes.
void set_pairs(const Byte* codes, std::int64_t j, BlockRun& to) {
  for (std::size_t i = 0; i < kShortRun; ++i) {
    to.codes[i] =
        codes[j / 8 * 32 + j % 2 * 16 + static_cast<std::int64_t>(i)] >> (j % 8 / 2 * 2) & 3;
  }
}

void read_q2_k(const Byte* row, std::int64_t run, BlockRun& to) {
  const Byte* const block = row + run / 16 * 84;
  const std::int64_t j = run % 16;
  to.scale = value_of_half(half_at(block + 80)) * static_cast<float>(block[j] & 15);
  to.minimum = -value_of_half(half_at(block + 82)) * static_cast<float>(block[j] >> 4);
  set_pairs(block + 16, j, to);
}

/// Codes of -4 to 3, stored from 4 on.
void read_q3_k(const Byte* row, std::int64_t run, BlockRun& to) {
  const Byte* const block = row + run / 16 * 110;
  const std::int64_t j = run % 16;
  const Byte* const packed = block + 96;
  const int low = j < 8 ? packed[j] & 15 : packed[j - 8] >> 4;
  const int scale = (low | (packed[8 + j % 4] >> (j / 4 * 2) & 3) << 4) - 32;
  to.scale = value_of_half(half_at(block + 108)) * static_cast<float>(scale);
  to.minimum = 0;
  set_pairs(block + 32, j, to);
  for (std::size_t i = 0; i < kShortRun; ++i) {
    const int high = block[j % 2 * 16 + static_cast<std::int64_t>(i)] >> (j / 2) & 1;
    to.codes[i] = static_cast<Byte>(to.codes[i] + 4 * high + 4);
  }
}

void read_q6_k(const Byte* row, std::int64_t run, BlockRun& to) {
  const Byte* const block = row + run / 16 * 210;
  const std::int64_t j = run % 16, half = j / 8, part = j % 8 / 2;
  to.scale = value_of_half(half_at(block + 208)) *
             static_cast<float>(static_cast<std::int8_t>(block[192 + j]));
  to.minimum = 0;
  const Byte* const low = block + 64 * half + 32 * (part % 2) + 16 * (j % 2);
  const Byte* const high = block + 128 + 32 * half + 16 * (j % 2);
  for (std::size_t i = 0; i < kShortRun; ++i) {
    const int four = part < 2 ? low[i] & 15 : low[i] >> 4;
    to.codes[i] = static_cast<Byte>(four | (high[i] >> (2 * part) & 3) << 4);
  }
}

void read_q4_a32(const Byte* row, std::int64_t run, BlockRun& to) {
  const Byte* const block = row + run * 24;
  std::memcpy(&to.scale, block, sizeof to.scale);
  std::memcpy(&to.minimum, block + 4, sizeof to.minimum);
  set_nibbles(block + 8, to);
}

constexpr BlockLayout kQ4_0 = {.code_bits = 4,
                               .run = 32,
                               .offset = 8,
                               .has_minimum = false,
                               .has_halves = true,
                               .lanes = 32,
                               .read = read_q4_0};
constexpr BlockLayout kQ4_1 = {.code_bits = 4,
                               .run = 32,
                               .offset = 0,
                               .has_minimum = true,
                               .has_halves = true,
                               .lanes = 32,
                               .read = read_q4_1};
constexpr BlockLayout kQ5_0 = {.code_bits = 8,
                               .run = 32,
                               .offset = 16,
                               .has_minimum = false,
                               .has_halves = true,
                               .lanes = 32,
                               .read = read_q5_0};
constexpr BlockLayout kQ5_1 = {.code_bits = 8,
                               .run = 32,
                               .offset = 0,
                               .has_minimum = true,
                               .has_halves = true,
                               .lanes = 32,
                               .read = read_q5_1};
constexpr BlockLayout kQ8_0 = {.code_bits = 8,
                               .run = 32,
                               .offset = 0,
                               .has_minimum = false,
                               .has_halves = true,
                               .lanes = 32,
                               .read = read_q8_0};
constexpr BlockLayout kQ2_K = {.code_bits = 4,
                               .run = 16,
                               .offset = 0,
                               .has_minimum = true,
                               .has_halves = false,
                               .lanes = 256,
                               .read = read_q2_k};
constexpr BlockLayout kQ3_K = {.code_bits = 4,
                               .run = 16,
                               .offset = 8,
                               .has_minimum = false,
                               .has_halves = false,
                               .lanes = 256,
                               .read = read_q3_k};
constexpr BlockLayout kQ4_K = {.code_bits = 4,
                               .run = 32,
                               .offset = 0,
                               .has_minimum = true,
                               .has_halves = false,
                               .lanes = 256,
                               .read = read_q4_k};
constexpr BlockLayout kQ5_K = {.code_bits = 8,
                               .run = 32,
                               .offset = 0,
                               .has_minimum = true,
                               .has_halves = false,
                               .lanes = 256,
                               .read = read_q5_k};
constexpr BlockLayout kQ6_K = {.code_bits = 8,
                               .run = 16,
                               .offset = 32,
                               .has_minimum = false,
                               .has_halves = false,
                               .lanes = 256,
                               .read = read_q6_k};
constexpr BlockLayout kQ4_A32 = {.code_bits = 4,
                                 .run = 32,
                                 .offset = 8,
                                 .has_minimum = true,
                                 .has_halves = false,
                                 .lanes = 32,
                                 .read = read_q4_a32};

}  // namespace

const BlockLayout* block_layout(DType dtype) {
  switch (dtype) {
    case DType::kGgufQ4_0:
      return &kQ4_0;
    case DType::kGgufQ4_1:
      return &kQ4_1;
    case DType::kGgufQ5_0:
      return &kQ5_0;
    case DType::kGgufQ5_1:
      return &kQ5_1;
    case DType::kGgufQ8_0:
      return &kQ8_0;
    case DType::kGgufQ2K:
      return &kQ2_K;
    case DType::kGgufQ3K:
      return &kQ3_K;
    case DType::kGgufQ4K:
      return &kQ4_K;
    case DType::kGgufQ5K:
      return &kQ5_K;
    case DType::kGgufQ6K:
      return &kQ6_K;
    case DType::kMirQ4A32:
      return &kQ4_A32;
    default:
      return nullptr;
  }
}

}  // namespace mir::fast

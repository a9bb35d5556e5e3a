// Decodes block formats of ggml and MIR_Q4_A32 to codes and the scales and minima of their runs.
#include "kernels/fast/matrix/block_codes.hpp"

#include <algorithm>
#include <cstring>

namespace mir::fast {

namespace {

using Byte = std::uint8_t;

std::uint32_t half_at(const Byte* at) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}

/// Eight bytes at once.
using Word = std::uint64_t;
constexpr Word kEach = 0x0101010101010101;

/// Sets kCount codes to the bits of each byte from `shift` on that `mask` has.
template <std::size_t kCount>
void set_fields(const Byte* from, std::size_t shift, Word mask, Byte* codes) {
  for (std::size_t i = 0; i < kCount; i += sizeof(Word)) {
    Word word = 0;
    std::memcpy(&word, from + i, sizeof word);
    word = word >> shift & kEach * mask;
    std::memcpy(codes + i, &word, sizeof word);
  }
}

/// Adds such bits to kRun codes, as their bits from `place` on.
void add_fields(const Byte* from, std::size_t shift, Word mask, std::size_t place, Byte* codes) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(kRun); i += sizeof(Word)) {
    Word word = 0, code = 0;
    std::memcpy(&word, from + i, sizeof word);
    std::memcpy(&code, codes + i, sizeof code);
    code |= (word >> shift & kEach * mask) << place;
    std::memcpy(codes + i, &code, sizeof code);
  }
}

/// 16 bytes: the low bits of elements 0 to 15, the high ones of elements 16 to 31.
void set_nibbles(const Byte* from, BlockCodes& to) {
  set_fields<16>(from, 0, 15, to.codes.data());
  set_fields<16>(from, 4, 15, to.codes.data() + 16);
}

/// Bit i of a little-endian number of 32 bits becomes the fifth bit of code i.
void add_fifth_bits(const Byte* bits, BlockCodes& to) {
  std::array<Byte, kRun> spread;
  for (std::size_t i = 0; i < 4; ++i) {
    // Byte j keeps bit j alone, which the addition carries to its bit 7.
    const Word word = (bits[i] * kEach & 0x8040201008040201) + 0x7f * kEach;
    std::memcpy(spread.data() + i * sizeof word, &word, sizeof word);
  }
  add_fields(spread.data(), 7, 1, 4, to.codes.data());
}

void read_q4_0(const Byte* block, BlockCodes& to) {
  to.scale_bits = half_at(block);
  set_nibbles(block + 2, to);
}

void read_q4_1(const Byte* block, BlockCodes& to) {
  to.scale_bits = half_at(block);
  to.minimum_bits = half_at(block + 2);
  set_nibbles(block + 4, to);
}

void read_q5_0(const Byte* block, BlockCodes& to) {
  to.scale_bits = half_at(block);
  set_nibbles(block + 6, to);
  add_fifth_bits(block + 2, to);
}

void read_q5_1(const Byte* block, BlockCodes& to) {
  to.scale_bits = half_at(block);
  to.minimum_bits = half_at(block + 2);
  set_nibbles(block + 8, to);
  add_fifth_bits(block + 4, to);
}

void read_q8_0(const Byte* block, BlockCodes& to) {
  to.scale_bits = half_at(block);
  std::memcpy(to.codes.data(), block + 2, static_cast<std::size_t>(kRun));
}

void read_q4_a32(const Byte* block, BlockCodes& to) {
  std::memcpy(&to.scale_bits, block, sizeof to.scale_bits);
  std::memcpy(&to.minimum_bits, block + 4, sizeof to.minimum_bits);
  set_nibbles(block + 8, to);
}

// K types: 256 elements, in parts of 32.

constexpr std::size_t kParts = 8, kPart = 32;

/// Scale and minimum of the block, then eight pairs of 6 bits in 12 bytes.
void set_pairs(const Byte* block, BlockCodes& to) {
  to.scale_bits = half_at(block);
  to.minimum_bits = half_at(block + 2);
  const Byte* const packed = block + 4;
  for (std::size_t j = 0; j < 4; ++j) {
    to.scales[j] = packed[j] & 63;
    to.minima[j] = packed[j + 4] & 63;
    to.scales[j + 4] = static_cast<Byte>((packed[j + 8] & 15) | packed[j] >> 6 << 4);
    to.minima[j + 4] = static_cast<Byte>(packed[j + 8] >> 4 | packed[j + 4] >> 6 << 4);
  }
}

/// Each 32 bytes hold 8 / kBits parts, the first in their lowest bits.
template <std::size_t kBits>
void set_parts(const Byte* from, BlockCodes& to) {
  constexpr std::size_t kTogether = 8 / kBits;
  for (std::size_t part = 0; part < kParts; ++part) {
    set_fields<kPart>(from + part / kTogether * kPart, part % kTogether * kBits, (1 << kBits) - 1,
                      to.codes.data() + part * kPart);
  }
}

/// Bit `part` of byte i becomes bit number `place` of code i of each part.
void add_bits(const Byte* from, std::size_t place, BlockCodes& to) {
  for (std::size_t part = 0; part < kParts; ++part) {
    add_fields(from, part, 1, place, to.codes.data() + part * kPart);
  }
}

void read_q2_k(const Byte* block, BlockCodes& to) {
  to.scale_bits = half_at(block + 80);
  to.minimum_bits = half_at(block + 82);
  std::copy_n(block, to.scales.size(), to.scales.begin());
  set_parts<2>(block + 16, to);
}

void read_q3_k(const Byte* block, BlockCodes& to) {
  to.scale_bits = half_at(block + 108);
  const Byte* const packed = block + 96;
  for (std::size_t j = 0; j < to.scales.size(); ++j) {
    const int low = j < 8 ? packed[j] & 15 : packed[j - 8] >> 4;
    const int high = packed[8 + j % 4] >> (j / 4 * 2) & 3;
    to.scales[j] = static_cast<Byte>((low | high << 4) - 32);
  }
  set_parts<2>(block + 32, to);
  add_bits(block, 2, to);
}

void read_q4_k(const Byte* block, BlockCodes& to) {
  set_pairs(block, to);
  set_parts<4>(block + 16, to);
}

void read_q5_k(const Byte* block, BlockCodes& to) {
  set_pairs(block, to);
  set_parts<4>(block + 48, to);
  add_bits(block + 16, 4, to);
}

void read_q6_k(const Byte* block, BlockCodes& to) {
  to.scale_bits = half_at(block + 208);
  std::copy_n(block + 192, to.scales.size(), to.scales.begin());
  for (std::size_t part = 0; part < kParts; ++part) {
    Byte* const codes = to.codes.data() + part * kPart;
    set_fields<kPart>(block + part / 4 * 64 + part % 2 * 32, part % 4 / 2 * 4, 15, codes);
    add_fields(block + 128 + part / 4 * 32, part % 4 * 2, 3, 4, codes);
  }
}

constexpr BlockLayout kQ4_0 = {.low_bits = 4,
                               .high_bits = 0,
                               .run = 32,
                               .offset = 8,
                               .has_minimum = false,
                               .parameters = RunParameters::kHalves,
                               .lanes = 32,
                               .read = read_q4_0};
constexpr BlockLayout kQ4_1 = {.low_bits = 4,
                               .high_bits = 0,
                               .run = 32,
                               .offset = 0,
                               .has_minimum = true,
                               .parameters = RunParameters::kHalves,
                               .lanes = 32,
                               .read = read_q4_1};
constexpr BlockLayout kQ5_0 = {.low_bits = 4,
                               .high_bits = 1,
                               .run = 32,
                               .offset = 16,
                               .has_minimum = false,
                               .parameters = RunParameters::kHalves,
                               .lanes = 32,
                               .read = read_q5_0};
constexpr BlockLayout kQ5_1 = {.low_bits = 4,
                               .high_bits = 1,
                               .run = 32,
                               .offset = 0,
                               .has_minimum = true,
                               .parameters = RunParameters::kHalves,
                               .lanes = 32,
                               .read = read_q5_1};
constexpr BlockLayout kQ8_0 = {.low_bits = 8,
                               .high_bits = 0,
                               .run = 32,
                               .offset = 0,
                               .has_minimum = false,
                               .parameters = RunParameters::kHalves,
                               .lanes = 32,
                               .read = read_q8_0};
constexpr BlockLayout kQ2_K = {.low_bits = 2,
                               .high_bits = 0,
                               .run = 16,
                               .offset = 0,
                               .has_minimum = true,
                               .parameters = RunParameters::kNibbles,
                               .lanes = 256,
                               .read = read_q2_k};
constexpr BlockLayout kQ3_K = {.low_bits = 2,
                               .high_bits = 1,
                               .run = 16,
                               .offset = 4,
                               .has_minimum = false,
                               .parameters = RunParameters::kBytes,
                               .lanes = 256,
                               .read = read_q3_k};
constexpr BlockLayout kQ4_K = {.low_bits = 4,
                               .high_bits = 0,
                               .run = 32,
                               .offset = 0,
                               .has_minimum = true,
                               .parameters = RunParameters::kBytes,
                               .lanes = 256,
                               .read = read_q4_k};
constexpr BlockLayout kQ5_K = {.low_bits = 4,
                               .high_bits = 1,
                               .run = 32,
                               .offset = 0,
                               .has_minimum = true,
                               .parameters = RunParameters::kBytes,
                               .lanes = 256,
                               .read = read_q5_k};
constexpr BlockLayout kQ6_K = {.low_bits = 4,
                               .high_bits = 2,
                               .run = 16,
                               .offset = 32,
                               .has_minimum = false,
                               .parameters = RunParameters::kBytes,
                               .lanes = 256,
                               .read = read_q6_k};
constexpr BlockLayout kQ4_A32 = {.low_bits = 4,
                                 .high_bits = 0,
                                 .run = 32,
                                 .offset = 8,
                                 .has_minimum = true,
                                 .parameters = RunParameters::kFloats,
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

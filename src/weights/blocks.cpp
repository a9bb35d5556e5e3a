// Decoders of every quantised block format, and the rules for extents of block tensors.
#include "weights/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>

#include "mir/codes/tensors.hpp"
#include "weights/elements.hpp"

namespace mir {
namespace {

/// note [exact products]
/// A Float16 has 11 significant bits, a block's inner scale at most 7 and a code at most 8 with its
/// sign taken off, so d * scale * code fits the 24 bits of a Float32 exactly in every format below
/// (no format has both the widest scale and the widest code). The only operation that rounds is the
/// subtraction or addition of a minimum.
using Byte = std::uint8_t;

float half_at(const Byte* at) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return static_cast<float>(f16_to_double(bits));
}

int signed_at(const Byte* at) {
  return static_cast<std::int8_t>(*at);
}

void decode_q4_0(const Byte* block, float* out) {
  const float d = half_at(block);
  const Byte* codes = block + 2;
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((codes[i] & 15) - 8);
    out[i + 16] = d * static_cast<float>((codes[i] >> 4) - 8);
  }
}

void decode_q4_1(const Byte* block, float* out) {
  const float d = half_at(block);
  const float minimum = half_at(block + 2);
  const Byte* codes = block + 4;
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(codes[i] & 15) + minimum;
    out[i + 16] = d * static_cast<float>(codes[i] >> 4) + minimum;
  }
}

/// The fifth bit of code i is bit i of `high`, a little-endian 32-bit number.
int code_q5(const Byte* high, const Byte* codes, int i) {
  const int low = i < 16 ? codes[i] & 15 : codes[i - 16] >> 4;
  return low | (high[i / 8] >> (i % 8) & 1) << 4;
}

void decode_q5_0(const Byte* block, float* out) {
  const float d = half_at(block);
  for (int i = 0; i < 32; ++i)
    out[i] = d * static_cast<float>(code_q5(block + 2, block + 6, i) - 16);
}

void decode_q5_1(const Byte* block, float* out) {
  const float d = half_at(block);
  const float minimum = half_at(block + 2);
  for (int i = 0; i < 32; ++i)
    out[i] = d * static_cast<float>(code_q5(block + 4, block + 8, i)) + minimum;
}

void decode_q8_0(const Byte* block, float* out) {
  const float d = half_at(block);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(signed_at(block + 2 + i));
}

/// The 2-bit code of element i: 32 bytes serve 128 elements, two bits for each run of 32.
int code_2bit(const Byte* codes, int i) {
  return codes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
}

void decode_q2_k(const Byte* block, float* out) {
  const Byte* codes = block + 16;
  const float d = half_at(block + 80);
  const float minimum = half_at(block + 82);
  for (int i = 0; i < 256; ++i) {
    const Byte scales = block[i / 16];
    out[i] = d * static_cast<float>(scales & 15) * static_cast<float>(code_2bit(codes, i)) -
             minimum * static_cast<float>(scales >> 4);
  }
}

void decode_q3_k(const Byte* block, float* out) {
  const Byte* codes = block + 32;
  const Byte* scales = block + 96;
  const float d = half_at(block + 108);
  for (int i = 0; i < 256; ++i) {
    const int run = i / 16;
    const int low = run < 8 ? scales[run] & 15 : scales[run - 8] >> 4;
    const int scale = (low | (scales[8 + run % 4] >> (run / 4 * 2) & 3) << 4) - 32;
    const int high = block[i % 32] >> (i / 32) & 1;
    out[i] = d * static_cast<float>(scale) *
             static_cast<float>(code_2bit(codes, i) - (high != 0 ? 0 : 4));
  }
}

struct ScaleAndMinimum {
  int scale;
  int minimum;
};

/// Eight pairs of 6 bits in 12 bytes, as Q4_K and Q5_K have them.
ScaleAndMinimum pair_at(const Byte* packed, int j) {
  if (j < 4) return {packed[j] & 63, packed[j + 4] & 63};
  return {(packed[j + 4] & 15) | packed[j - 4] >> 6 << 4, packed[j + 4] >> 4 | packed[j] >> 6 << 4};
}

int code_4bit(const Byte* codes, int i) {
  return codes[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4) & 15;
}

void decode_q4_k(const Byte* block, float* out) {
  const float d = half_at(block);
  const float minimum = half_at(block + 2);
  for (int i = 0; i < 256; ++i) {
    const auto pair = pair_at(block + 4, i / 32);
    out[i] = d * static_cast<float>(pair.scale) * static_cast<float>(code_4bit(block + 16, i)) -
             minimum * static_cast<float>(pair.minimum);
  }
}

void decode_q5_k(const Byte* block, float* out) {
  const float d = half_at(block);
  const float minimum = half_at(block + 2);
  for (int i = 0; i < 256; ++i) {
    const auto pair = pair_at(block + 4, i / 32);
    const int code = code_4bit(block + 48, i) | (block[16 + i % 32] >> (i / 32) & 1) << 4;
    out[i] = d * static_cast<float>(pair.scale) * static_cast<float>(code) -
             minimum * static_cast<float>(pair.minimum);
  }
}

void decode_q6_k(const Byte* block, float* out) {
  const float d = half_at(block + 208);
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128;
    const int part = i % 128 / 32;
    const int at = i % 32;
    const int low = block[64 * half + at + 32 * (part & 1)] >> (part < 2 ? 0 : 4) & 15;
    const int high = block[128 + 32 * half + at] >> (2 * part) & 3;
    const int scale = signed_at(block + 192 + i / 16);
    out[i] = d * static_cast<float>(scale) * static_cast<float>((low | high << 4) - 32);
  }
}

void decode_q8_k(const Byte* block, float* out) {
  float d = 0;
  std::memcpy(&d, block, sizeof d);
  for (int i = 0; i < 256; ++i) out[i] = d * static_cast<float>(signed_at(block + 4 + i));
}

/// Codes are a sign and one of eight magnitudes; a scale of 255 makes all of them NaN.
void decode_mxfp4(const Byte* block, float* out) {
  constexpr std::array<double, 8> kMagnitudes = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const double scale =
      block[16] == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1, block[16] - 127);
  const auto value = [&](int code) {
    const double magnitude = kMagnitudes[static_cast<std::size_t>(code & 7)] * scale;
    return static_cast<float>((code & 8) == 0 ? magnitude : -magnitude);
  };
  for (int i = 0; i < 16; ++i) {
    out[i] = value(block[i] & 15);
    out[i + 16] = value(block[i] >> 4);
  }
}

/// Scale and additive term are Float32, codes are stored from 8 on: an element is rounded once.
void decode_q4_a32(const Byte* block, float* out) {
  float scale = 0;
  float term = 0;
  std::memcpy(&scale, block, sizeof scale);
  std::memcpy(&term, block + 4, sizeof term);
  const Byte* codes = block + 8;
  for (int i = 0; i < 16; ++i) {
    out[i] = std::fma(static_cast<float>((codes[i] & 15) - 8), scale, term);
    out[i + 16] = std::fma(static_cast<float>((codes[i] >> 4) - 8), scale, term);
  }
}

using Decode = void (*)(const Byte* block, float* out);

Decode decoder_of(DType dtype) {
  switch (dtype) {
    case DType::kGgufQ4_0:
      return decode_q4_0;
    case DType::kGgufQ4_1:
      return decode_q4_1;
    case DType::kGgufQ5_0:
      return decode_q5_0;
    case DType::kGgufQ5_1:
      return decode_q5_1;
    case DType::kGgufQ8_0:
      return decode_q8_0;
    case DType::kGgufQ2K:
      return decode_q2_k;
    case DType::kGgufQ3K:
      return decode_q3_k;
    case DType::kGgufQ4K:
      return decode_q4_k;
    case DType::kGgufQ5K:
      return decode_q5_k;
    case DType::kGgufQ6K:
      return decode_q6_k;
    case DType::kGgufQ8K:
      return decode_q8_k;
    case DType::kMXFP4:
      return decode_mxfp4;
    case DType::kMirQ4A32:
      return decode_q4_a32;
    default:
      return nullptr;
  }
}

/// Rows of one block format whose blocks lie side by side: the scales of all rows, then their codes
/// in turns of `run` bytes a row, each byte changed by `mask`.
struct Interleaving {
  DType dtype;
  DType row;
  std::size_t rows;
  std::size_t run;
  Byte mask;  ///< Q4_0 codes are stored as two's complement, without the 8 that is to be subtracted
};

constexpr Interleaving kInterleavings[] = {
    {DType::kGgufQ4_0x4, DType::kGgufQ4_0, 4, 4, 0x88},
    {DType::kGgufQ4_0x8, DType::kGgufQ4_0, 8, 8, 0x88},
    {DType::kGgufQ8_0x4, DType::kGgufQ8_0, 4, 4, 0},
};

const Interleaving* interleaving_of(DType dtype) {
  const auto* found = std::ranges::find(kInterleavings, dtype, &Interleaving::dtype);
  return found == std::end(kInterleavings) ? nullptr : found;
}

/// The block of row `row` in a unit.
void take_row(const Byte* unit, const Interleaving& by, std::size_t row, Byte* block) {
  constexpr std::size_t kScale = 2;
  const std::size_t codes = info(by.row).unit_bytes - kScale;
  std::memcpy(block, unit + row * kScale, kScale);
  const Byte* from = unit + by.rows * kScale;
  for (std::size_t i = 0; i < codes; ++i) {
    const std::size_t turn = i / by.run;
    block[kScale + i] = from[(turn * by.rows + row) * by.run + i % by.run] ^ by.mask;
  }
}

/// `values` has whole groups of by.rows rows, each of whole blocks.
void decode_interleaved(const Byte* units, const Interleaving& by, Tensor& values) {
  const Decode decode = decoder_of(by.row);
  const std::size_t lanes = info(by.row).lanes;
  const auto width = static_cast<std::size_t>(values.shape().back());
  const auto into = values.as_mutable<float>();
  std::array<Byte, 34> block{};  // Q8_0, the larger one
  for (std::size_t first = 0; first < into.size(); first += by.rows * width) {
    for (std::size_t at = 0; at < width; at += lanes, units += info(by.dtype).unit_bytes) {
      for (std::size_t row = 0; row < by.rows; ++row) {
        take_row(units, by, row, block.data());
        decode(block.data(), &into[first + row * width + at]);
      }
    }
  }
}

}  // namespace

bool is_decodable_block(DType dtype) {
  return decoder_of(dtype) != nullptr || interleaving_of(dtype) != nullptr;
}

std::int64_t row_lanes(DType dtype) {
  const Interleaving* by = interleaving_of(dtype);
  return info(by == nullptr ? dtype : by->row).lanes;
}

Result<void> check_blocks_fit(DType dtype, std::span<const std::int64_t> shape) {
  const Interleaving* by = interleaving_of(dtype);
  const std::int64_t lanes = row_lanes(dtype);
  const std::int64_t rows = by == nullptr ? 1 : static_cast<std::int64_t>(by->rows);
  std::int64_t count = 1;
  if (std::ranges::find(shape, 0) != shape.end()) return {};
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) count = (count * (shape[i] % rows)) % rows;
  const bool whole = !shape.empty() && shape.back() % lanes == 0 && (rows == 1 || count == 0);
  if (whole) return {};
  return Error{diag::kTensorDtypeUnsupported,
               fmt::format("{} takes rows of a multiple of {} elements{}", name_of(dtype), lanes,
                           rows == 1 ? "" : fmt::format(", a multiple of {} of them", rows))};
}

bool rounds_activations(DType dtype) {
  return is_decodable_block(dtype) && dtype != DType::kMXFP4;
}

Result<Tensor> dequantise(const Tensor& blocks) {
  const Decode decode = decoder_of(blocks.dtype());
  const Interleaving* by = interleaving_of(blocks.dtype());
  if (decode == nullptr && by == nullptr)
    return Error{diag::kTensorDtypeUnsupported,
                 fmt::format("{} cannot be dequantised", name_of(blocks.dtype()))};
  if (by != nullptr) {
    if (auto fits = check_blocks_fit(blocks.dtype(), blocks.shape()); !fits) return fits.error();
  }
  auto values = Tensor::allocate(DType::kFloat32, blocks.shape());
  if (!values) return values;
  const DTypeInfo& row = info(blocks.dtype());
  const auto* from = reinterpret_cast<const Byte*>(blocks.bytes().data());
  if (by != nullptr) {
    decode_interleaved(from, *by, *values);
    return values;
  }
  float* into = values->as_mutable<float>().data();
  for (auto units = blocks.elements() / row.lanes; units > 0; --units) {
    decode(from, into);
    from += row.unit_bytes;
    into += row.lanes;
  }
  return values;
}

}  // namespace mir

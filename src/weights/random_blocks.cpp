// Draws random tensors of block types whose scales keep values within an interval.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include "mir/codes/tensors.hpp"
#include "weights/blocks.hpp"
#include "weights/elements.hpp"
#include "weights/random.hpp"

namespace mir {
namespace {

using Byte = std::uint8_t;

/// A Float16 of a block: `times` the end of the interval.
struct BlockScale {
  std::size_t at;
  double times;
};

struct BlockRow {
  DType dtype;
  std::array<BlockScale, 2> scales;  ///< times 0: none
  std::size_t scale_count;           ///< the first one so many times, one after the other
  void (*adjust)(Byte* block, double end);
};

/// The minimum of each run of 16 is its scale.
void same_nibbles(Byte* block, double /*end*/) {
  for (int i = 0; i < 16; ++i) block[i] = static_cast<Byte>((block[i] & 15) * 17);
}

/// Sets each minimum to the scale in the six-bit pairs of Q4_K and Q5_K, which lie in bytes 4 to
/// 15.
void same_pairs(Byte* block, double /*end*/) {
  for (int i = 4; i < 8; ++i) {
    block[i + 4] = block[i];
    block[i + 8] = static_cast<Byte>((block[i + 8] & 15) * 17);
  }
}

/// Scale and sums of Q8_K, whose scale is a Float32.
void scale_and_sums(Byte* block, double end) {
  const auto scale = static_cast<float>(end / 128);
  std::memcpy(block, &scale, sizeof scale);
  for (int run = 0; run < 16; ++run) {
    std::int16_t sum = 0;
    for (int i = 0; i < 16; ++i)
      sum = static_cast<std::int16_t>(sum + static_cast<std::int8_t>(block[4 + 16 * run + i]));
    std::memcpy(block + 260 + 2 * run, &sum, sizeof sum);
  }
}

/// The largest power of two whose sixfold is not above the end.
void power_of_two(Byte* block, double end) {
  block[16] = static_cast<Byte>(std::clamp(std::ilogb(end / 6) + 127, 0, 254));
}

/// Codes of formats without a minimum lie around 0; those of the others reach from 0 to 2^bits - 1,
/// and the minimum is their middle. Inner scales reach 15 (Q2_K), 32 (Q3_K), 63 or 128 (Q6_K).
constexpr BlockRow kRows[] = {
    {DType::kGgufQ4_1, {{{0, 2.0 / 15}, {2, -1}}}, 1, nullptr},
    {DType::kGgufQ5_0, {{{0, 1.0 / 16}}}, 1, nullptr},
    {DType::kGgufQ5_1, {{{0, 2.0 / 31}, {2, -1}}}, 1, nullptr},
    {DType::kGgufQ2K, {{{80, 2.0 / 45}, {82, 1.0 / 15}}}, 1, same_nibbles},
    {DType::kGgufQ3K, {{{108, 1.0 / 128}}}, 1, nullptr},
    {DType::kGgufQ4K, {{{0, 2.0 / 945}, {2, 1.0 / 63}}}, 1, same_pairs},
    {DType::kGgufQ5K, {{{0, 2.0 / 1953}, {2, 1.0 / 63}}}, 1, same_pairs},
    {DType::kGgufQ6K, {{{208, 1.0 / 4096}}}, 1, nullptr},
    {DType::kGgufQ8K, {}, 0, scale_and_sums},
    {DType::kGgufQ4_0x4, {{{0, 1.0 / 8}}}, 4, nullptr},
    {DType::kGgufQ4_0x8, {{{0, 1.0 / 8}}}, 8, nullptr},
    {DType::kGgufQ8_0x4, {{{0, 1.0 / 128}}}, 4, nullptr},
    {DType::kMXFP4, {}, 0, power_of_two},
};

const BlockRow* block_row(DType dtype) {
  const auto* found = std::ranges::find(kRows, dtype, &BlockRow::dtype);
  return found == std::end(kRows) ? nullptr : found;
}

void put_scales(const BlockRow& row, double end, Byte* block) {
  if (row.adjust != nullptr) row.adjust(block, end);
  for (const BlockScale& scale : row.scales) {
    const std::uint16_t bits = f16_from_double(end * scale.times);
    if (scale.times == 0) continue;
    for (std::size_t i = 0; i < row.scale_count; ++i)
      std::memcpy(block + scale.at + i * sizeof bits, &bits, sizeof bits);
  }
}

}  // namespace

bool is_random_block(DType dtype) {
  return block_row(dtype) != nullptr;
}

Result<Tensor> random_blocks(RandomStream stream, DType dtype, Shape shape, Interval interval) {
  const BlockRow* row = block_row(dtype);
  const double end = std::abs(interval.centre) + interval.half_width;
  if (row == nullptr)
    return Error{diag::kTensorDtypeUnsupported,
                 fmt::format("no random blocks of type {}", name_of(dtype))};
  if (auto fits = check_blocks_fit(dtype, shape); !fits) return fits.error();
  auto tensor = Tensor::allocate(dtype, std::move(shape));
  if (!tensor) return tensor;
  const auto size = tensor->bytes().size();
  const auto bytes = random_integers(stream, DType::kUInt8, {static_cast<std::int64_t>(size)}, 256);
  if (!bytes) return bytes;
  auto* const into = reinterpret_cast<Byte*>(tensor->mutable_bytes());
  std::ranges::copy(bytes->as<Byte>(), into);
  for (std::size_t at = 0; at < size; at += info(dtype).unit_bytes)
    put_scales(*row, end, into + at);
  return tensor;
}

}  // namespace mir

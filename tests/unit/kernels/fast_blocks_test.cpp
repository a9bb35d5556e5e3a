// Weights in blocks: the size of packed weights, and the bits of results.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "fast_weights.hpp"
#include "kernels/fast/matrix/block_codes.hpp"

namespace mir::fast {
namespace {

using namespace test;

TEST_SUITE_BEGIN("fast kernels");

TEST_CASE("packed blocks take the bytes of the file") {
  // As many as fill the panels of each instruction set.
  constexpr std::int64_t kOutputs = 96, kDepth = 2304;
  for (const IsaLevel isa : isas()) {
    CAPTURE(name_of(isa));
    for (const BlockType& type : kBlockTypes) {
      CAPTURE(info(type.dtype).name);
      const BlockLayout& layout = *block_layout(type.dtype);
      const DTypeInfo& unit = info(type.dtype);
      // A factor of 6 bits takes a byte: of 16 factors, four bytes more than in the file.
      const bool has_six_bits = layout.parameters == RunParameters::kBytes && layout.high_bits != 2;
      const std::size_t bytes = unit.unit_bytes + (has_six_bits ? 4 : 0);
      const auto blocks = static_cast<std::size_t>(kOutputs * kDepth / unit.lanes);
      CHECK(packed_bytes(type.dtype, kOutputs, kDepth, isa) == blocks * bytes);
      CHECK(static_cast<double>(bytes) < 1.04 * unit.unit_bytes);
    }
  }
}

/// Activations with a scale of 2^-5 in each run of 32: their codes times that.
struct ExactActivations {
  ExactActivations(std::int64_t rows, std::int64_t depth)
      : codes(static_cast<std::size_t>(rows * depth)), values(codes.size()) {
    std::mt19937 bits(31);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      codes[i] = i % 32 == 7 ? -127 : static_cast<int>(bits() % 255) - 127;
      values[i] = static_cast<float>(codes[i]) * kScale;
    }
  }
  static constexpr float kScale = 0x1p-5F;
  std::vector<int> codes;
  FloatValues values;
};

float real(std::uint32_t bits, RunParameters parameters) {
  if (parameters == RunParameters::kFloats) return std::bit_cast<float>(bits);
  return static_cast<float>(ref::widen(ref::Half{static_cast<std::uint16_t>(bits)}));
}

/// Scale and minimum of a run of a block.
struct RunReals {
  RunReals(const BlockLayout& layout, const BlockCodes& block, std::size_t run)
      : scale(real(block.scale_bits, layout.parameters)),
        minimum(layout.has_minimum ? real(block.minimum_bits, layout.parameters) : 0) {
    if (!layout.has_factors()) return;
    const std::uint8_t both = block.scales[run];
    const bool is_pair = layout.parameters == RunParameters::kNibbles;
    scale *= static_cast<float>(is_pair ? both & 15 : static_cast<std::int8_t>(both));
    minimum = -minimum * static_cast<float>(is_pair ? both >> 4 : block.minima[run]);
  }
  float scale, minimum;
};

/// A row of activations times a row of blocks: integer sums of runs, added in Float32 in order.
template <class MultiplyAdd>
float product(const Weights& weights, std::int64_t output, const int* x, MultiplyAdd multiply_add) {
  const BlockLayout& layout = *block_layout(weights.dtype);
  const std::size_t unit_bytes = info(weights.dtype).unit_bytes;
  const std::int64_t blocks = weights.depth / layout.lanes;
  const auto* at = reinterpret_cast<const std::uint8_t*>(weights.bytes.data()) +
                   static_cast<std::size_t>(output * blocks) * unit_bytes;
  float total = 0;
  BlockCodes block{};
  for (std::int64_t i = 0; i < blocks; ++i, at += unit_bytes) {
    layout.read(at, block);
    for (std::int64_t k = 0; k < layout.lanes; k += layout.run) {
      int dots = 0, sum = 0;
      for (std::int64_t j = k; j < k + layout.run; ++j, ++x) {
        const std::uint8_t code = block.codes[static_cast<std::size_t>(j)];
        dots += *x * (layout.is_signed() ? static_cast<std::int8_t>(code) : code - layout.offset);
        sum += *x;
      }
      const RunReals run(layout, block, static_cast<std::size_t>(k / layout.run));
      total = multiply_add(static_cast<float>(dots), run.scale * ExactActivations::kScale, total);
      if (!layout.has_minimum) continue;
      total = multiply_add(run.minimum, ExactActivations::kScale * static_cast<float>(sum), total);
    }
  }
  return total;
}

/// The bits of all products of rows of x and rows of weights.
template <class MultiplyAdd>
std::vector<std::uint32_t> products(const Weights& weights, const ExactActivations& x,
                                    MultiplyAdd multiply_add) {
  std::vector<std::uint32_t> all;
  const std::int64_t rows = static_cast<std::int64_t>(x.codes.size()) / weights.depth;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t output = 0; output < weights.outputs; ++output) {
      all.push_back(std::bit_cast<std::uint32_t>(
          product(weights, output, x.codes.data() + row * weights.depth, multiply_add)));
    }
  }
  return all;
}

TEST_CASE("results with blocks have the bits of integer sums that are added run by run") {
  // The last panel is not full, and the last chunks are fewer than are expanded at once.
  constexpr std::int64_t kOutputs = 37;
  for (const BlockType& type : kBlockTypes) {
    CAPTURE(info(type.dtype).name);
    const std::int64_t depth = info(type.dtype).lanes == 256 ? 5 * 256 : 19 * 32;
    for (const std::int64_t rows : {1, 2, 3, 5, 33}) {
      CAPTURE(rows);
      const Weights weights(type.dtype, kOutputs, depth, 32);
      const ExactActivations x(rows, depth);
      const auto fused =
          products(weights, x, [](float a, float b, float c) { return std::fma(a, b, c); });
      const auto separate =
          products(weights, x, [](float a, float b, float c) { return a * b + c; });
      for (const IsaLevel isa : isas()) {
        CAPTURE(name_of(isa));
        Context context(1, isa);
        const Packed packed(weights, context);
        std::vector<std::uint32_t> out(fused.size());
        linear(packed.matrix,
               {.rows = {.x = x.values.data(), .x_stride = depth, .rows = rows},
                .out = reinterpret_cast<float*>(out.data()),
                .out_stride = kOutputs},
               context);
        // Machines without the instruction round products.
        CHECK((out == fused || (isa == IsaLevel::kScalar && out == separate)));
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::fast

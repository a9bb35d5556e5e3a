// Weights for tests of packed products: stored in a type, as numbers, and packed.
#pragma once

#include <cstring>

#include "fast_problem.hpp"
#include "kernels/fast/large_pages.hpp"
#include "kernels/fast/matrix/linear.hpp"
#include "kernels/ref/numeric.hpp"
#include "weights/blocks.hpp"

namespace mir::fast::test {

/// Blocks that can be packed: elements that share a scale, where the scale and minimum (0: none)
/// are, and the codes.
struct BlockType {
  DType dtype;
  std::int64_t run;
  std::size_t scale, minimum, codes, codes_end;
  DType parameters = DType::kFloat16;  ///< type of scale and minimum
  std::byte zeros = {};                ///< a byte of codes of 0
};
inline constexpr BlockType kBlockTypes[] = {
    {DType::kGgufQ4_0, 32, 0, 0, 2, 18},
    {DType::kGgufQ4_1, 32, 0, 2, 4, 20},
    {DType::kGgufQ5_0, 32, 0, 0, 2, 22},
    {DType::kGgufQ5_1, 32, 0, 2, 4, 24},
    {DType::kGgufQ8_0, 32, 0, 0, 2, 34},
    {DType::kGgufQ2K, 16, 80, 82, 16, 80},
    {DType::kGgufQ3K, 16, 108, 0, 0, 96},
    {DType::kGgufQ4K, 32, 0, 2, 16, 144},
    {DType::kGgufQ5K, 32, 0, 2, 16, 176},
    {DType::kGgufQ6K, 16, 208, 0, 0, 192},
    {DType::kMirQ4A32, 32, 0, 4, 8, 24, DType::kFloat32, std::byte{0x88}},
};
inline const BlockType& block_type(DType dtype) {
  return *std::ranges::find(kBlockTypes, dtype, &BlockType::dtype);
}

inline bool is_block(DType dtype) {
  return info(dtype).type_class == DTypeClass::kBlock;
}

/// Random weights [outputs, depth], rounded to `dtype`; of a block type random blocks, or, in turn,
/// blocks of the least and the largest codes.
struct Weights {
  Weights(DType type, std::int64_t outputs_, std::int64_t depth_, unsigned seed,
          bool has_extreme_codes = false)
      : dtype(type), outputs(outputs_), depth(depth_) {
    if (is_block(dtype)) {
      invent_blocks(seed, has_extreme_codes);
      return;
    }
    values = random_floats(outputs * depth, seed);
    bytes.resize(values.size() * info(dtype).unit_bytes);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (dtype == DType::kFloat16) {
        put(i, ref::narrow_to_half(values[i]));
      } else if (dtype == DType::kBFloat16) {
        put(i, ref::narrow_to_bfloat16(values[i]));
      } else {
        std::memcpy(bytes.data() + 4 * i, &values[i], 4);
      }
    }
  }

  DType dtype;
  std::int64_t outputs, depth;
  FloatValues values;
  std::vector<std::byte> bytes;
  FloatValues minima = {};  ///< none: all 0

  /// |s c| + |m| of element i = s c + m.
  double magnitude(std::size_t i) const {
    const double m = minima.empty() ? 0.0 : minima[i];
    return std::fabs(values[i] - m) + std::fabs(m);
  }

 private:
  void invent_blocks(unsigned seed, bool has_extreme_codes) {
    const BlockType& type = block_type(dtype);
    const DTypeInfo& unit = info(dtype);
    const std::size_t blocks = static_cast<std::size_t>(outputs * depth / unit.lanes);
    bytes.resize(blocks * unit.unit_bytes);
    std::mt19937 bits(seed);
    for (std::byte& each : bytes) each = static_cast<std::byte>(bits() >> 24);
    for (std::size_t i = 0; i < blocks; ++i) {
      for (const std::size_t at : {type.minimum, type.scale}) {
        const double scale = (static_cast<double>(bits()) - 0x1p31) * 0x1p-36;
        const auto half = ref::narrow_to_half(scale);
        const auto single = static_cast<float>(scale);
        std::byte* const to = bytes.data() + i * unit.unit_bytes + at;
        if (type.parameters == DType::kFloat16) std::memcpy(to, &half, sizeof half);
        if (type.parameters == DType::kFloat32) std::memcpy(to, &single, sizeof single);
      }
    }
    const auto is_code = [&](std::size_t i) {
      return i % unit.unit_bytes >= type.codes && i % unit.unit_bytes < type.codes_end;
    };
    for (std::size_t i = 0; has_extreme_codes && i < bytes.size(); ++i) {
      const bool is_signed = dtype == DType::kGgufQ8_0;
      constexpr std::byte kCodes[2][2] = {{std::byte{0}, std::byte{255}},
                                          {std::byte{128}, std::byte{127}}};
      if (is_code(i)) bytes[i] = kCodes[is_signed][i / unit.unit_bytes % 2];
    }
    values = decoded(bytes);
    if (type.minimum == 0) return;
    // With codes of 0 elements are their minima.
    std::vector<std::byte> blocks_of_zeros = bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (is_code(i)) blocks_of_zeros[i] = type.zeros;
    }
    minima = decoded(blocks_of_zeros);
  }

  FloatValues decoded(const std::vector<std::byte>& blocks) const {
    const auto tensor = Tensor::borrow(dtype, {outputs, depth}, blocks, nullptr);
    const auto reals = dequantise(*tensor);
    const auto span = reals->as<float>();
    return {span.begin(), span.end()};
  }

  template <class T>
  void put(std::size_t i, T element) {
    std::memcpy(bytes.data() + sizeof(T) * i, &element, sizeof(T));
    values[i] = static_cast<float>(ref::widen(element));
  }
};

/// The same, packed for the instruction set of a context.
struct Packed {
  Packed(const Weights& weights, Context& context, Activations activations = Activations::kFloat32)
      : pages(packed_bytes(weights.dtype, weights.outputs, weights.depth, context.isa(),
                           activations)),
        matrix(pack(weights.bytes.data(), weights.dtype, weights.outputs, weights.depth,
                    {pages.data(), pages.size()}, context, activations)) {}

  LargePages pages;
  PackedMatrix matrix;
};

}  // namespace mir::fast::test

// Products of activations with weights that are packed once: y = x W^T.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/fast/context.hpp"
#include "kernels/fast/elementwise.hpp"
#include "kernels/fast/rows.hpp"
#include "mir/tensor.hpp"

namespace mir::fast {

/// A weight matrix [outputs, depth] in the order in which kernels of one instruction set read it:
/// panels of as many outputs as a block of registers takes, in a panel for each k (for each block
/// of k) the elements of its outputs, the last panel filled up with zeros, that of floats only to a
/// whole vector. The bytes are borrowed.
struct PackedMatrix {
  const std::byte* data = nullptr;
  DType dtype = DType::kFloat32;  ///< of the elements as they were
  std::int64_t outputs = 0;
  std::int64_t depth = 0;
  Activations activations = Activations::kFloat32;  ///< without effect on weights in blocks
};

/// True if weights of this type and depth can be packed: Float32, BFloat16, Float16, ggml's blocks
/// with a scale for 32 elements (Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K) or for 16 (Q2_K, Q3_K,
/// Q6_K), and MIR_Q4_A32, where blocks fill rows.
bool is_packable(DType dtype, std::int64_t depth);
/// Bytes that a packed matrix takes; a multiple of 64. The type can be packed, or is Int8 for
/// linear_codes.
std::size_t packed_bytes(DType dtype, std::int64_t outputs, std::int64_t depth, IsaLevel isa,
                         Activations activations = Activations::kFloat32);
/// Packs `weight`, elements of `dtype` in row-major order [outputs, depth], into `to`, which has
/// packed_bytes and is aligned to 64 bytes. A packed matrix has as many bytes as the file, rounded
/// up to whole panels, with two exceptions: Float32 becomes BFloat16 with such activations, and
/// factors of 6 bits become bytes, which adds 3 % to Q4_K, 2 % to Q5_K and 4 % to Q3_K.
PackedMatrix pack(const std::byte* weight, DType dtype, std::int64_t outputs, std::int64_t depth,
                  std::span<std::byte> to, Context& context,
                  Activations activations = Activations::kFloat32);

/// The functions that a product can end in.
constexpr bool is_activation(Unary function) {
  return function == Unary::kRelu || function == Unary::kSigmoid || function == Unary::kSilu ||
         function == Unary::kGelu || function == Unary::kQuickGelu;
}

/// Operations on each sum before it is stored, in this order. Every step rounds to Float32, so the
/// bits are those of the same ops one by one.
struct Epilogue {
  const float* bias = nullptr;                     ///< [outputs], or null
  std::optional<Unary> activation = std::nullopt;  ///< for which is_activation() holds
  const float* residual = nullptr;  ///< [rows, outputs] to add, or null; may be the output
  std::int64_t residual_stride = 0;
};

/// Left-hand operand: x, [rows, depth], rows x_stride elements apart.
struct LinearRows {
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  std::int64_t rows = 0;
  /// Norm that each row goes through first, with the bits of rms_norm; null if there is none.
  const RmsNorm* norm = nullptr;
};

/// out overlaps no input but the residual.
struct LinearOperands {
  LinearRows rows = {};
  float* out = nullptr;  ///< [rows, outputs]
  std::int64_t out_stride = 0;
  Epilogue epilogue = {};
};

/// out[m, n] = sum_k x[m, k] weight[n, k], in Float32 with fused multiply-add where the instruction
/// set has it, in blocks of 256 k that are summed in order:
///   |error| <= (256 + K / 256) 2^-24 sum_k |x_k w_k|.
/// Weights of 16 bits are exact as factors. A row's bits do not depend on the other rows.
///
/// With activations of BFloat16 the factors x' and w' are x and weight rounded to BFloat16, ties to
/// even. Products are exact, the sums are Float32 as above:
///   |error| <= (256 + K / 256) 2^-24 sum_k |x'_k w'_k| + 2^-125 sum_k (1 + |x'_k| + |w'_k|)
/// of sum_k x'_k w'_k; the last part because the instructions of AVX-512 BF16 take numbers below
/// 2^-126 for 0. Other instruction sets give all the same bits.
///
/// With weights in blocks, w = s c + m for integer codes c and a scale s and minimum m (0 for some
/// types) of each R = 32 or 16 elements, activations are rounded to 8 bits, x' = d q with q and d
/// of ref::round_activations, bit by bit. Sums of q c and q over a block are exact, the rest is
/// Float32, block after block:
///   |error| <= (P K / R + 4) 2^-24 sum_k |x'_k| (|s c_k| + |m|)
/// of sum_k x'_k w_k, P being 2 for types with minima and 1 for others, where no d s and d m is
/// beyond the normal numbers of Float32. depth is then a multiple of 32.
void linear(const PackedMatrix& weight, const LinearOperands& operands, Context& context);

/// A product of 8-bit codes, of activations per tensor and of a symmetric weight.
struct CodeProduct {
  const PackedMatrix* weight = nullptr;  ///< packed from Int8
  const std::byte* x = nullptr;          ///< [rows, depth], Int8 or UInt8
  bool is_unsigned = false;              ///< x is UInt8
  std::int64_t rows = 0;
  std::int32_t zero = 0;          ///< the code of x that means 0, of the range of its codes
  const float* scales = nullptr;  ///< [outputs]: the scale of x times that of the output's weights
  const float* bias = nullptr;    ///< [outputs], or null
  float* out = nullptr;           ///< [rows, outputs]
};

/// out[m, n] = scales[n] sum_k (x[m, k] - zero) weight[n, k] + bias[n]. The sum is exact for depths
/// up to kMostCodeDepth, it, the product with the scale and the sum with the bias are rounded to
/// Float32. The bits are the same on all instruction sets.
void linear_codes(const CodeProduct& product, Context& context);
inline constexpr std::int64_t kMostCodeDepth = 65536;

/// Several products of one x (of the same rows, depth and stride) as one loop over all panels.
struct LinearTarget {
  const PackedMatrix* weight = nullptr;
  float* out = nullptr;
  std::int64_t out_stride = 0;
  Epilogue epilogue = {};
};
void linear_group(const LinearRows& rows, std::span<const LinearTarget> targets, Context& context);

/// out = f(x gate^T + bias) (x up^T), f and bias being the epilogue's, then the residual: the bits
/// of the ops one by one. gate and up have equal extents and types and are packed for the same
/// activations.
void linear_gated(const PackedMatrix& gate, const PackedMatrix& up, const LinearOperands& operands,
                  Context& context);

}  // namespace mir::fast

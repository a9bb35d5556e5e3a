// Quantised blocks of ggml, MXFP4 and MIR_Q4_A32: what their bytes mean.
#pragma once

#include <span>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// True for the block types that dequantise() takes: GGUF_Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to
/// Q6_K, Q8_K, the interleaved Q4_0x4, Q4_0x8 and Q8_0x4, MXFP4 and MIR_Q4_A32
/// (docs/ops/quantisation.md).
bool is_decodable_block(DType dtype);

/// Elements of one row in a storage unit, 1 for plain types: rows are multiples of this long.
std::int64_t row_lanes(DType dtype);

/// Checks that a tensor of this block type can have these extents: each row must be made of whole
/// blocks, and rows must come in whole groups if blocks are interleaved. Empty tensors always pass.
Result<void> check_blocks_fit(DType dtype, std::span<const std::int64_t> shape);

/// The values of a tensor of such a type as Float32. Each is the exact value of its code, rounded
/// once; a scale that is not finite gives values that are not finite. An interleaved tensor must
/// fit as above.
Result<Tensor> dequantise(const Tensor& blocks);

/// True if Linear with a weight of this type rounds its activations to 8 bits (docs/ops/linear.md):
/// ggml's blocks and MIR_Q4_A32 do, MXFP4 does not.
bool rounds_activations(DType dtype);

/// True for GGUF_Q8_0, GGUF_Q4_0, GGUF_Q4_K and MIR_Q4_A32.
bool is_encodable_block(DType dtype);

/// A Float32 tensor, whose rows are whole blocks, as blocks of such a type. By ggml's
/// reference formulas:
///   Q8_0: d = max|x| / 127, code = round(x / d), half away from zero;
///   Q4_0: d = (the x of largest magnitude) / -8, code = min(15, floor(x / d + 8.5));
///   Q4_K: a search for the least weighted square error, see docs/weights.md.
/// d is computed in Float32, stored as Float16, and x is multiplied by 1 / d before it is stored.
/// For MIR_Q4_A32, in double except s and t, which are rounded to Float32:
///   s = (max x - min x) / 15, t = min x + 8 s, code = clamp(round((x - t) / s), -8, 7), half to
///   even; 0 where s is 0. Where an end would be beyond Float32, s is the next smaller number and
///   t puts both ends at equal distances from theirs.
/// Refused are values that are not finite or whose d is too large for Float16.
Result<Tensor> quantise(const Tensor& values, DType to);

}  // namespace mir

// Makers of nodes, one for each kernel family.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/fast/elementwise.hpp"
#include "kernels/fast/matrix/linear.hpp"
#include "kernels/fast/matrix/product.hpp"
#include "kernels/fast/rows.hpp"
#include "plan/plan_node.hpp"
#include "plan/schedule.hpp"

namespace mir {

/// An RMSNorm without its operand.
struct RmsNormPart {
  Tensor weight;
  float epsilon = 0;
  bool add_unit_offset = false;

  fast::RmsNorm parameters() const { return {weight.as<float>().data(), epsilon, add_unit_offset}; }
};
/// None when the fast kernel does not take it.
std::optional<RmsNormPart> rms_norm_part(const Op& op, const ParameterTable& parameters);

/// What products with packed weights multiply.
struct LinearInput {
  PlanValueIndex x = 0;
  std::optional<RmsNormPart> norm = std::nullopt;
};

/// One product with packed weights and what is done to it.
struct LinearPart {
  const fast::PackedMatrix* weight = nullptr;
  Tensor bias = {};  ///< undefined: none
  std::optional<fast::Unary> activation = std::nullopt;
  std::optional<PlanValueIndex> residual = std::nullopt;
  PlanValueIndex out = 0;
};

/// Of a product with so many rows; x and what is written do not count.
Work work_of_product(const fast::PackedMatrix& weight, std::int64_t rows);

/// Products of one x. Errors are reported at `step`.
std::unique_ptr<PlanNode> linear_node(std::size_t step, LinearInput input,
                                      std::vector<LinearPart> parts);
/// out = f(x gate^T + bias) * (x up^T), f being the gate's activation.
std::unique_ptr<PlanNode> gated_linear_node(std::size_t step, LinearInput input, LinearPart gate,
                                            const fast::PackedMatrix* up);

struct AttentionValues {
  PlanValueIndex q = 0, k = 0, v = 0, out = 0;
  std::optional<PlanValueIndex> mask = {};  ///< added to the scores
};
struct AttentionParameters {
  float scale = 1;
  bool causal = false;
  std::optional<std::int64_t> window;
  std::optional<float> hidden = {};  ///< score of keys that a query does not see; none: no weight
  bool tokens_first = false;         ///< [B, S, H, D] instead of [B, H, S, D]
};
std::unique_ptr<PlanNode> attention_node(std::size_t step, const AttentionValues& values,
                                         const AttentionParameters& parameters);

/// Appends to a cache; the results are all tokens that it holds then.
struct CacheValues {
  PlanValueIndex keys = 0, values = 0, all_keys = 0, all_values = 0;
};
std::unique_ptr<PlanNode> cache_node(std::size_t step, const Op& op, const CacheValues& values);

/// Any step, by the reference kernels. Values of any strides, planned or not. `kernels` are those
/// of the plan: among fast ones the name says what it is.
std::unique_ptr<PlanNode> reference_node(const PlannedStep& step,
                                         KernelSet kernels = KernelSet::kFast);

/// The part of a value that attribute `indices` of the op selects; all of it without one. Symbols
/// in it have their values in `dims`.
Result<TensorRef> sliced(const Op& op, TensorRef value, const DimBindings* dims);

/// The elements of a value in row-major order.
std::unique_ptr<PlanNode> copy_node(std::size_t step, PlanValueIndex from, PlanValueIndex to);

/// Whether the two nodes below take codes of this type: quantised per tensor, in 8 or 16 bits.
bool has_simple_codes(DType dtype, const ref::Quantisation& codes);
/// The Float32 numbers nearest to those that codes mean, and the codes of Float32 numbers;
/// values in row-major order. The quantisation outlives the node.
std::unique_ptr<PlanNode> real_node(std::size_t step, PlanValueIndex from, PlanValueIndex to,
                                    const ref::Quantisation& codes);
std::unique_ptr<PlanNode> code_node(std::size_t step, PlanValueIndex from, PlanValueIndex to,
                                    const ref::Quantisation& codes);

/// A product of x's codes of 8 bits, per tensor, with a weight packed from Int8, in Float32;
/// `scales` are those of fast::CodeProduct.
std::unique_ptr<PlanNode> code_product_node(std::size_t step, PlanValueIndex x,
                                            const ref::Quantisation& codes, const LinearPart& part,
                                            std::vector<float> scales);

// A node of one step by a fast kernel; null when there is none for the op with these types. The
// elements of operands lie as the node asks for.

std::unique_ptr<PlanNode> embedding_node(const PlannedStep& step, const ParameterTable& parameters);
std::unique_ptr<PlanNode> norm_node(const PlannedStep& step, const ParameterTable& parameters);
std::unique_ptr<PlanNode> softmax_node(const PlannedStep& step, const ParameterTable& parameters);
/// Softmax over any dimension; an operand of Float32.
std::unique_ptr<PlanNode> softmax_along_node(const PlannedStep& step, std::int64_t axis);
/// ReduceMax, ReduceMin, ReduceSum, Mean.
std::unique_ptr<PlanNode> reduction_node(const PlannedStep& step, const ParameterTable& parameters);
/// RoPE, MultimodalRoPE, VisionRoPE.
std::unique_ptr<PlanNode> rope_node(const PlannedStep& step, const ParameterTable& parameters);
/// The function of an op that has one by that name in the fast kernels; none for others.
std::optional<fast::Unary> unary_of(const Op& op);
/// Whether an op is one of elementwise.cpp: a function of one operand, arithmetic of two, Clip.
bool is_elementwise(OpId op);
std::unique_ptr<PlanNode> elementwise_node(const PlannedStep& step);
std::unique_ptr<PlanNode> flash_attention_node(const PlannedStep& step,
                                               const ParameterTable& parameters);
std::unique_ptr<PlanNode> matmul_node(const PlannedStep& step, const ParameterTable& parameters);
/// Where, MaskedScatter, Equal, CastType.
std::unique_ptr<PlanNode> select_node(const PlannedStep& step, const ParameterTable& parameters);
/// Gather, Index.
std::unique_ptr<PlanNode> pick_node(const PlannedStep& step, const ParameterTable& parameters);
/// The number as one element; none where its type has no conversion.
std::optional<Tensor> element_of(double number, DType dtype);
/// Copy, Fill.
std::unique_ptr<PlanNode> store_node(const PlannedStep& step, const ParameterTable& parameters);
std::unique_ptr<PlanNode> pad_node(const PlannedStep& step, const ParameterTable& parameters);
std::unique_ptr<PlanNode> top_k_node(const PlannedStep& step, const ParameterTable& parameters);
/// Slice, Split, Concat, Stack, Repeat.
std::unique_ptr<PlanNode> movement_node(const PlannedStep& step, const ParameterTable& parameters);

/// What a convolution is besides its operand's extents.
struct ConvPart {
  fast::ConvOperands form;
  Tensor weight;
  Tensor bias;            ///< undefined: none
  bool is_patch = false;  ///< each image is one patch: a product with the packed weight
};
/// How many dimensions a convolution slides along; 0 for other ops.
std::size_t spatial_rank(const Op& op);
/// Of a convolution; none when the fast kernel does not take it.
std::optional<ConvPart> conv_part(const Op& op, const ParameterTable& parameters);
/// `patch_weight`: [outputs, inputs times kernel] where is_patch, or null.
std::unique_ptr<PlanNode> conv_node(const PlannedStep& step, const ConvPart& conv,
                                    const fast::PackedMatrix* patch_weight);

}  // namespace mir

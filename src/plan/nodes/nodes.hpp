// Makers of nodes, one for each kernel family.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/fast/chain.hpp"
#include "kernels/fast/elementwise.hpp"
#include "kernels/fast/matrix/linear.hpp"
#include "kernels/fast/matrix/product.hpp"
#include "kernels/fast/rows.hpp"
#include "plan/fast_ops.hpp"
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
/// Returns the parameters of an RMSNorm that its row admits.
RmsNormPart rms_norm_part(const Op& op, const ParameterTable& parameters);

/// Left-hand operand of products with packed weights.
struct LinearInput {
  PlanValueIndex x = 0;
  std::optional<RmsNormPart> norm = std::nullopt;
};

/// One product with packed weights and the operations on its results.
struct LinearPart {
  const fast::PackedMatrix* weight = nullptr;
  Tensor bias = {};  ///< undefined: none
  std::optional<fast::Unary> activation = std::nullopt;
  std::optional<PlanValueIndex> residual = std::nullopt;
  PlanValueIndex out = 0;
};

/// Returns the work of a product with so many rows, without reads of x and writes of the result.
Work work_of_product(const fast::PackedMatrix& weight, std::int64_t rows);

/// Products of one x. Errors are reported at `step`.
std::unique_ptr<PlanNode> linear_node(std::size_t step, LinearInput input,
                                      std::vector<LinearPart> parts);
/// out = f(x gate^T + bias) * (x up^T), f being the gate's activation.
std::unique_ptr<PlanNode> gated_linear_node(std::size_t step, LinearInput input, LinearPart gate,
                                            const fast::PackedMatrix* up);

/// A product of two operands.
std::unique_ptr<PlanNode> matmul_node(const PlannedStep& step);
/// out = x W^T, W being packed.
std::unique_ptr<PlanNode> packed_matmul_node(std::size_t step, PlanValueIndex x, PlanValueIndex out,
                                             const fast::PackedMatrix* weight);

/// Elementwise functions, each of one of the earlier results or of values from elsewhere. The node
/// has the last result.
std::unique_ptr<PlanNode> chain_node(std::span<const PlannedStep> steps);

/// Tables broadcast to x, with rows of its width.
struct RotationValues {
  PlanValueIndex x = 0, cos = 0, sin = 0, out = 0;
};
/// out = x cos + [-x2, x1] sin for rows [x1, x2] of x.
std::unique_ptr<PlanNode> rotate_half_node(std::size_t step, const RotationValues& values);

struct AttentionValues {
  PlanValueIndex q = 0, k = 0, v = 0, out = 0;
  std::optional<PlanValueIndex> mask = {};
  std::optional<PlanValueIndex> positions = {};  ///< [B, S]; only of causal attention
};
struct AttentionParameters {
  float scale = 1;
  bool causal = false;
  std::optional<std::int64_t> window;
  bool masks_one_query = false;      ///< the window applies to a single query, too
  std::optional<float> hidden = {};  ///< score of keys that a query does not see; none: no weight
  bool tokens_first = false;         ///< [B, S, H, D] instead of [B, H, S, D]
  /// Score of keys that a Bool mask does not keep. Empty if the mask is added.
  std::optional<float> replaces_by = {};
};
std::unique_ptr<PlanNode> attention_node(std::size_t step, const AttentionValues& values,
                                         const AttentionParameters& parameters);

/// Appends to a cache; the results are all tokens that it holds then.
std::unique_ptr<PlanNode> cache_node(const PlannedStep& step);

struct PlanOptions;
struct PlanResources;

/// Compares the extents of `from` with those of the view that is the result of the step.
std::unique_ptr<PlanNode> match_shape_node(std::size_t step, const Op& op, PlanValueIndex from,
                                           PlanValueIndex view);

/// A step of structured control flow: a plan for each region, made now and run as often as the op
/// requires. The schedules of the regions must outlive the node.
std::unique_ptr<PlanNode> control_node(const PlannedStep& step, const ControlStep& control,
                                       const PlanOptions& options, const PlanResources& resources);
/// A step with a flow of blocks.
std::unique_ptr<PlanNode> block_flow_node(const PlannedStep& step, const ControlStep& control,
                                          const PlanOptions& options,
                                          const PlanResources& resources);

/// Any step, by the reference kernels. Values may have any strides, planned or not. `kernels` are
/// those of the plan; in a plan of fast kernels the node's name marks it as a reference.
std::unique_ptr<PlanNode> reference_node(const PlannedStep& step,
                                         KernelSet kernels = KernelSet::kFast);

/// The part of a value that attribute `indices` of the op selects; all of it without one. Symbols
/// in it have their values in `dims`.
Result<TensorRef> sliced(const Op& op, TensorRef value, const DimBindings* dims);

/// The elements of a value in row-major order.
std::unique_ptr<PlanNode> copy_node(std::size_t step, PlanValueIndex from, PlanValueIndex to);

/// True if the two nodes below take codes of this type: quantised per tensor, in 8 or 16 bits.
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

/// Returns the bounds of a Clip of Float32.
fast::Clip clip_bounds(const Op& op);

// Makers that rows of fast_ops.cpp name.

std::unique_ptr<PlanNode> binary_node(const FastStep& step);
std::unique_ptr<PlanNode> cast_node(const FastStep& step);
std::unique_ptr<PlanNode> causal_mask_node(const FastStep& step);
std::unique_ptr<PlanNode> clip_node(const FastStep& step);
std::unique_ptr<PlanNode> comparison_node(const FastStep& step);
std::unique_ptr<PlanNode> compress_node(const FastStep& step);
std::unique_ptr<PlanNode> concat_node(const FastStep& step);
std::unique_ptr<PlanNode> copy_into_node(const FastStep& step);
std::unique_ptr<PlanNode> cum_sum_node(const FastStep& step);
/// `table` is in the element type of the result, or in a float type whose rows are converted.
std::unique_ptr<PlanNode> embedding_node(const PlannedStep& step, Tensor table);
std::unique_ptr<PlanNode> extent_node(const FastStep& step);
std::unique_ptr<PlanNode> fill_node(const FastStep& step);
std::unique_ptr<PlanNode> flash_attention_node(const FastStep& step);
std::unique_ptr<PlanNode> gather_node(const FastStep& step);
std::unique_ptr<PlanNode> index_node(const FastStep& step);
std::unique_ptr<PlanNode> iota_node(const FastStep& step);
std::unique_ptr<PlanNode> layer_norm_node(const FastStep& step);
std::unique_ptr<PlanNode> logical_node(const FastStep& step);
std::unique_ptr<PlanNode> masked_scatter_node(const FastStep& step);
std::unique_ptr<PlanNode> multimodal_rope_node(const FastStep& step);
std::unique_ptr<PlanNode> pad_node(const FastStep& step);
std::unique_ptr<PlanNode> random_uniform_node(const FastStep& step);
std::unique_ptr<PlanNode> reduction_node(const FastStep& step);
std::unique_ptr<PlanNode> repeat_node(const FastStep& step);
std::unique_ptr<PlanNode> rms_norm_node(const FastStep& step);
std::unique_ptr<PlanNode> rope_node(const FastStep& step);
std::unique_ptr<PlanNode> slice_node(const FastStep& step);
std::unique_ptr<PlanNode> softmax_node(const FastStep& step);
std::unique_ptr<PlanNode> split_node(const FastStep& step);
std::unique_ptr<PlanNode> stack_node(const FastStep& step);
std::unique_ptr<PlanNode> generic_node(const FastStep& step);
std::unique_ptr<PlanNode> top_k_node(const FastStep& step);
std::unique_ptr<PlanNode> unary_node(const FastStep& step);
std::unique_ptr<PlanNode> vision_rope_node(const FastStep& step);
std::unique_ptr<PlanNode> where_node(const FastStep& step);

/// Softmax over any dimension.
std::unique_ptr<PlanNode> softmax_along_node(const PlannedStep& step, std::int64_t axis);

// True if the attributes and extents of an op, whose element types its row admits, fit the kernel.

/// FlashAttention2: the last extent of four is known when the plan is made.
bool can_attend(const Op& op);
/// Convolutions: the extents of the kernel are stated, and the weight is laid out as usual.
bool can_convolve(const Op& op);
/// Fill: one number, which the element type has.
bool can_fill(const Op& op);
bool can_gather(const Op& op);
bool can_index(const Op& op);
/// Linear: one operand, and the last extents are known when the plan is made.
bool can_multiply(const Op& op);
/// Pad: the element type has the number of the margins.
bool can_pad(const Op& op);
/// True if the attributes of a GenericOp can be read and its region fits its values.
bool can_walk(const Op& op);
bool can_slice(const Op& op);
bool owns_weight(const Op& op);

/// Options, weight and bias of a convolution.
struct ConvPart {
  fast::ConvOperands form;
  Tensor weight;
  Tensor bias;            ///< undefined: none
  bool is_patch = false;  ///< each image is one patch: a product with the packed weight
};
/// Reads a convolution whose types and parameters its row admits; no value if the kernel does not
/// take its attributes.
std::optional<ConvPart> conv_part(const Op& op, SpatialRank rank, const ParameterTable& parameters);
/// `patch_weight`: [outputs, inputs times kernel] where is_patch, or null.
std::unique_ptr<PlanNode> conv_node(const PlannedStep& step, const ConvPart& conv,
                                    const fast::PackedMatrix* patch_weight);

}  // namespace mir

// The table of ops with fast kernels: admitted types, node makers and error bounds.
#include "plan/fast_ops.hpp"

#include <algorithm>

#include "eval/parameters.hpp"
#include "ir/op_table.hpp"
#include "kernels/fast/matrix/linear.hpp"
#include "kernels/fast/rows.hpp"
#include "kernels/fast/top_k.hpp"
#include "kernels/ref/movement.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/owned.hpp"
#include "plan/plan_builder.hpp"

namespace mir {

namespace {

// -- element types --------------------------------------------------------------------------------

bool is_any(DType) {
  return true;
}
bool is_single(DType dtype) {
  return dtype == DType::kFloat32;
}
/// Elements that are one unit of storage each.
bool is_unit(DType dtype) {
  return info(dtype).lanes == 1;
}
/// Types that numbers are converted to.
bool is_number(DType dtype) {
  return dtype != DType::kBool && ref::element_cast(DType::kFloat64, dtype).ok();
}
/// Units that mean their number by themselves.
bool is_plain_unit(DType dtype) {
  return is_unit(dtype) && info(dtype).type_class != DTypeClass::kQuantised;
}
bool is_state(DType dtype) {
  return dtype == DType::kInt64;
}

bool is_condition(DType dtype) {
  return dtype == DType::kBool || dtype == DType::kUInt8 || dtype == DType::kInt8;
}
bool is_comparison(DType dtype) {
  return dtype == DType::kBool || dtype == DType::kUInt8;
}
bool is_truth(DType dtype) {
  return dtype == DType::kBool;
}
bool is_index(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64;
}
bool is_position(DType dtype) {
  return dtype == DType::kInt32;
}
/// Weights of some depth; see fast::is_packable.
bool has_packed_form(DType dtype) {
  return fast::is_packable(dtype, 0);
}

bool are_operands_alike(const Op& op) {
  return dtype_of(*op.operand(0)) == dtype_of(*op.operand(1));
}
bool has_conversion(const Op& op) {
  return ref::element_cast(*dtype_of(*op.operand(0)), *dtype_of(*op.result())).ok();
}

constexpr ElementTypes kSingle = {is_single};
constexpr ElementTypes kLikeResult = {is_any, true};
constexpr AdmittedTypes kAny = {.operands = {{is_any}}, .results = {{is_any}}};
constexpr AdmittedTypes kSingles = {
    .operands = {kSingle}, .results = {kSingle}, .weight = kSingle, .bias = kSingle};
constexpr AdmittedTypes kUnits = {.operands = {{is_unit}}, .results = {{is_unit}}};
constexpr AdmittedTypes kUnitsOfOneType = {.operands = {kLikeResult}, .results = {{is_unit}}};
constexpr AdmittedTypes kPlainUnitsOfOneType = {.operands = {kLikeResult},
                                                .results = {{is_plain_unit}}};
constexpr AdmittedTypes kIndexed = {.operands = {kLikeResult, {is_index}}, .results = {{is_unit}}};

// -- bounds of functions --------------------------------------------------------------------------

// The exponents to which kernels take e; those of other arguments cause no error.

constexpr double negative_part(double x) {
  return x < 0 ? x : 0;
}
constexpr double gelu_exponent(double x) {
  return x < 0 ? 1.5957691216 * (x + 0.044715 * x * x * x) : 0;
}
constexpr double quick_gelu_exponent(double x) {
  return 1.702 * negative_part(x);
}

constexpr ErrorBound kSigmoidBound =
    in_ulps(fast::kUnaryUlp, fast::kSigmoidExponentUlp, negative_part);
constexpr ErrorBound kGeluBound = in_ulps(fast::kUnaryUlp, fast::kGeluExponentUlp, gelu_exponent);
constexpr ErrorBound kQuickGeluBound =
    in_ulps(fast::kUnaryUlp, fast::kQuickGeluExponentUlp, quick_gelu_exponent);

// -- rows -----------------------------------------------------------------------------------------

constexpr OperandOrders kAnyStrides = {OperandOrder::kStrided, OperandOrder::kStrided};
constexpr OperandOrders kAnyRows = {OperandOrder::kRows, OperandOrder::kRows};
constexpr OperandOrders kFirstInRows = {OperandOrder::kRows, OperandOrder::kRowMajor};
constexpr OperandOrders kFirstRowMajor = {OperandOrder::kRowMajor, OperandOrder::kStrided};

constexpr FastOp unary(OpId op, fast::Unary function, ErrorBound bound) {
  return {.op = op, .make = unary_node, .function = function, .types = kSingles, .bound = bound};
}

constexpr FastOp binary(OpId op, fast::Binary function) {
  return {
      .op = op, .make = binary_node, .function = function, .types = kSingles, .bound = kSameNumber};
}

constexpr FastOp comparison(OpId op, fast::Comparison function) {
  return {.op = op,
          .make = comparison_node,
          .function = function,
          .types = {.operands = {{fast::is_comparable}},
                    .results = {{is_comparison}},
                    .together = are_operands_alike},
          .bound = kSameNumber};
}

constexpr FastOp logical(OpId op, fast::Logical function) {
  return {.op = op,
          .make = logical_node,
          .function = function,
          .types = {.operands = {{is_truth}}, .results = {{is_comparison}}},
          .bound = kSameNumber};
}

constexpr FastOp reduction(OpId op, fast::Reduction function, ErrorBound bound) {
  return {
      .op = op, .make = reduction_node, .function = function, .types = kSingles, .bound = bound};
}

/// A function of the rows of its operand.
constexpr FastOp of_rows(OpId op, std::unique_ptr<PlanNode> (*make)(const FastStep&),
                         ErrorBound bound) {
  return {.op = op, .make = make, .types = kSingles, .bound = bound};
}

constexpr FastOp rotation(OpId op, std::unique_ptr<PlanNode> (*make)(const FastStep&)) {
  return {.op = op, .make = make, .types = kSingles, .orders = kFirstInRows, .bound = kRopeBound};
}

/// Elements elsewhere, as they are.
constexpr FastOp movement(OpId op, std::unique_ptr<PlanNode> (*make)(const FastStep&)) {
  return {.op = op, .make = make, .types = kUnits, .orders = kAnyStrides, .bound = kSameNumber};
}

constexpr FastOp view(OpId op) {
  return {.op = op, .build = &PlanBuilder::add_view, .types = kAny, .bound = kSameNumber};
}

constexpr FastOp permutation(OpId op) {
  return {.op = op, .build = &PlanBuilder::add_permutation, .types = kAny, .bound = kSameNumber};
}

constexpr FastOp convolution(OpId op, SpatialRank rank,
                             bool (PlanBuilder::*build_on_codes)(std::size_t) = nullptr) {
  return {.op = op,
          .build = &PlanBuilder::add_convolution,
          .build_on_codes = build_on_codes,
          .function = rank,
          .types = kSingles,
          .accepts = can_convolve,
          .bound = kProductBound};
}

constexpr FastOp kRowsOfOps[] = {
    unary(OpId::kLinalgAbs, fast::Unary::kAbs, kSameNumber),
    binary(OpId::kLinalgAdd, fast::Binary::kAdd),
    logical(OpId::kLinalgAnd, fast::Logical::kAnd),
    {.op = OpId::kLinalgCastType,
     .make = cast_node,
     .types = {.operands = {{is_any}}, .results = {{is_any}}, .together = has_conversion},
     .bound = kSameNumber},
    {.op = OpId::kLinalgCausalMask,
     .make = causal_mask_node,
     .types = {.operands = {kSingle, {is_index}}, .results = {kSingle}},
     .bound = kSameNumber},
    unary(OpId::kLinalgCeil, fast::Unary::kCeil, kSameNumber),
    {.op = OpId::kLinalgClip, .make = clip_node, .types = kSingles, .bound = kSameNumber},
    view(OpId::kLinalgClone),
    {.op = OpId::kLinalgCompress,
     .make = compress_node,
     .types = {.operands = {kLikeResult, {is_condition}}, .results = {{is_unit}}},
     .bound = kSameNumber,
     .decides_extents = true},
    movement(OpId::kLinalgConcat, concat_node),
    view(OpId::kLinalgContiguous),
    convolution(OpId::kLinalgConv1D, {1}),
    convolution(OpId::kLinalgConv2D, {2}, &PlanBuilder::add_linear_on_codes),
    convolution(OpId::kLinalgConv3D, {3}),
    {.op = OpId::kLinalgCopy,
     .make = copy_into_node,
     .types = kUnitsOfOneType,
     .orders = kFirstRowMajor,
     .bound = kSameNumber},
    unary(OpId::kLinalgCos, fast::Unary::kCos, in_ulps(fast::kCircularUlp)),
    {.op = OpId::kLinalgCumSum, .make = cum_sum_node, .types = kSingles, .bound = kSameNumber},
    binary(OpId::kLinalgDiv, fast::Binary::kDiv),
    {.op = OpId::kLinalgEmbedding,
     .build = &PlanBuilder::add_embedding,
     .types = {.operands = {{is_any}}, .results = {{is_any}}, .weight = kLikeResult},
     .bound = kSameNumber},
    comparison(OpId::kLinalgEqual, fast::Comparison::kEqual),
    unary(OpId::kLinalgErf, fast::Unary::kErf, in_ulps(fast::kErfUlp)),
    {.op = OpId::kLinalgExtent,
     .make = extent_node,
     .types = {.operands = {{is_any}}, .results = {{is_state}}},
     .orders = kAnyStrides,
     .bound = kSameNumber},
    unary(OpId::kLinalgExp, fast::Unary::kExp, in_ulps(fast::kExpUlp)),
    {.op = OpId::kLinalgFill,
     .make = fill_node,
     .types = kPlainUnitsOfOneType,
     .accepts = can_fill,
     .orders = kAnyStrides,
     .bound = kSameNumber},
    {.op = OpId::kLinalgFlashAttention2,
     .make = flash_attention_node,
     .types = {.operands = {kSingle, kSingle, kSingle, {is_index}}, .results = {kSingle}},
     .accepts = can_attend,
     .orders = kAnyRows,
     .bound = kAttentionBound},
    unary(OpId::kLinalgFloor, fast::Unary::kFloor, kSameNumber),
    unary(OpId::kLinalgGELU, fast::Unary::kGelu, kGeluBound),
    {.op = OpId::kLinalgGather,
     .make = gather_node,
     .types = kIndexed,
     .accepts = can_gather,
     .bound = kSameNumber},
    {.op = OpId::kLinalgGeneric,
     .make = generic_node,
     .types = kAny,
     .accepts = can_walk,
     .orders = kAnyStrides,
     .bound = kSameNumber},
    comparison(OpId::kLinalgGreaterEqual, fast::Comparison::kGreaterEqual),
    comparison(OpId::kLinalgGreater, fast::Comparison::kGreater),
    {.op = OpId::kLinalgIndex,
     .make = index_node,
     .types = kIndexed,
     .accepts = can_index,
     .bound = kSameNumber},
    {.op = OpId::kLinalgIota,
     .make = iota_node,
     .types = {.operands = {{is_any}}, .results = {{is_number}}},
     .bound = kSameNumber},
    {.op = OpId::kLinalgKVCache,
     .build = &PlanBuilder::add_cache,
     .types = {.operands = {{is_unit}}, .results = {{is_any}}},
     .bound = kSameNumber},
    of_rows(OpId::kLinalgLayerNorm, layer_norm_node, kLayerNormBound),
    comparison(OpId::kLinalgLessEqual, fast::Comparison::kLessEqual),
    comparison(OpId::kLinalgLess, fast::Comparison::kLess),
    {.op = OpId::kLinalgLinear,
     .build = &PlanBuilder::add_linear,
     .build_on_codes = &PlanBuilder::add_linear_on_codes,
     .types = {.operands = {kSingle},
               .results = {kSingle},
               .weight = {has_packed_form},
               .bias = kSingle},
     .accepts = can_multiply,
     .bound = kLinearBound},
    unary(OpId::kLinalgLog, fast::Unary::kLog, in_ulps(fast::kLogUlp)),
    {.op = OpId::kLinalgMaskedScatter,
     .make = masked_scatter_node,
     .types = {.operands = {kLikeResult, {is_condition}, kLikeResult}, .results = {{is_unit}}},
     .bound = kSameNumber},
    {.op = OpId::kLinalgMatchShape,
     .build = &PlanBuilder::add_match_shape,
     .types = kAny,
     .bound = kSameNumber},
    {.op = OpId::kLinalgMatMul,
     .build = &PlanBuilder::add_matmul,
     .types = kSingles,
     .bound = kProductBound},
    binary(OpId::kLinalgMaximum, fast::Binary::kMaximum),
    reduction(OpId::kLinalgMean, fast::Reduction::kMean, kSumBound),
    binary(OpId::kLinalgMinimum, fast::Binary::kMinimum),
    binary(OpId::kLinalgMul, fast::Binary::kMul),
    rotation(OpId::kLinalgMultimodalRoPE, multimodal_rope_node),
    unary(OpId::kLinalgNeg, fast::Unary::kNeg, kSameNumber),
    comparison(OpId::kLinalgNotEqual, fast::Comparison::kNotEqual),
    logical(OpId::kLinalgNot, fast::Logical::kNot),
    logical(OpId::kLinalgOr, fast::Logical::kOr),
    {.op = OpId::kLinalgPad,
     .make = pad_node,
     .types = kPlainUnitsOfOneType,
     .accepts = can_pad,
     .orders = kAnyStrides,
     .bound = kSameNumber},
    permutation(OpId::kLinalgPermute),
    unary(OpId::kLinalgQuickGELU, fast::Unary::kQuickGelu, kQuickGeluBound),
    {.op = OpId::kLinalgRMSNorm,
     .make = rms_norm_node,
     .types = {.operands = {kSingle, {is_any}}, .results = {kSingle}, .weight = kSingle},
     .accepts = owns_weight,
     .bound = kRmsNormBound},
    {.op = OpId::kLinalgRandomUniform,
     .make = random_uniform_node,
     .types = {.operands = {{is_state}}, .results = {kSingle, {is_state}}},
     .bound = kSameNumber},
    unary(OpId::kLinalgReLU, fast::Unary::kRelu, kSameNumber),
    reduction(OpId::kLinalgReduceMax, fast::Reduction::kMax, kSameNumber),
    reduction(OpId::kLinalgReduceMin, fast::Reduction::kMin, kSameNumber),
    reduction(OpId::kLinalgReduceSum, fast::Reduction::kSum, kSumBound),
    binary(OpId::kLinalgRem, fast::Binary::kRem),
    movement(OpId::kLinalgRepeat, repeat_node),
    view(OpId::kLinalgReshape),
    rotation(OpId::kLinalgRoPE, rope_node),
    unary(OpId::kLinalgRound, fast::Unary::kRound, kSameNumber),
    unary(OpId::kLinalgRsqrt, fast::Unary::kRsqrt, in_ulps(fast::kRsqrtUlp)),
    unary(OpId::kLinalgSiLU, fast::Unary::kSilu, kSigmoidBound),
    unary(OpId::kLinalgSigmoid, fast::Unary::kSigmoid, kSigmoidBound),
    unary(OpId::kLinalgSign, fast::Unary::kSign, kSameNumber),
    unary(OpId::kLinalgSin, fast::Unary::kSin, in_ulps(fast::kCircularUlp)),
    {.op = OpId::kLinalgSlice,
     .make = slice_node,
     .types = kUnits,
     .accepts = can_slice,
     .orders = kAnyStrides,
     .bound = kSameNumber},
    of_rows(OpId::kLinalgSoftmax, softmax_node, kSoftmaxBound),
    movement(OpId::kLinalgSplit, split_node),
    unary(OpId::kLinalgSqrt, fast::Unary::kSqrt, kSameNumber),
    movement(OpId::kLinalgStack, stack_node),
    binary(OpId::kLinalgSub, fast::Binary::kSub),
    unary(OpId::kLinalgTanh, fast::Unary::kTanh, in_ulps(fast::kTanhUlp)),
    {.op = OpId::kLinalgTopK,
     .make = top_k_node,
     .types = {.operands = {kLikeResult}, .results = {{fast::has_top_k}, {is_position}}},
     .bound = kSameNumber},
    permutation(OpId::kLinalgTranspose),
    unary(OpId::kLinalgTrunc, fast::Unary::kTrunc, kSameNumber),
    view(OpId::kLinalgView),
    rotation(OpId::kLinalgVisionRoPE, vision_rope_node),
    {.op = OpId::kLinalgWhere,
     .make = where_node,
     .types = {.operands = {{is_condition}, kLikeResult}, .results = {{is_unit}}},
     .bound = kSameNumber},
    view(OpId::kLinalgX2X),
    logical(OpId::kLinalgXor, fast::Logical::kXor),
};
constexpr OpTable kFastOps(kRowsOfOps);

/// The types of position `i`, which may be those of an earlier one.
const ElementTypes& types_at(std::span<const ElementTypes> types, std::size_t i) {
  i = std::min(i, types.size() - 1);
  while (types[i].has == nullptr) --i;
  return types[i];
}

}  // namespace

bool FastOp::admits(const Op& step) const {
  const OpRow* const declared = step.row();
  if (declared == nullptr || !declared->operands.admits(step.operand_count()) ||
      !declared->results.admits(step.result_count()) || step.result_count() == 0) {
    return false;
  }
  const auto result = dtype_of(*step.result());
  const auto fits = [&](const ElementTypes& admitted, const Value& value) {
    const auto dtype = dtype_of(value);
    return dtype && admitted.has(*dtype) && (!admitted.as_result || dtype == result);
  };
  for (const Use& use : step.operand_uses()) {
    if (!fits(types_at(types.operands, use.index()), *use.value())) return false;
  }
  for (const Value& value : step.results()) {
    if (!fits(types_at(types.results, value.index()), value)) return false;
  }
  return (types.together == nullptr || types.together(step)) &&
         (accepts == nullptr || accepts(step));
}

bool FastOp::admits_parameter(const Op& step, std::string_view suffix,
                              const ParameterTable& parameters) const {
  if (!owns_parameter(step, suffix)) return true;
  const ElementTypes& admitted = suffix == ".bias" ? types.bias : types.weight;
  const Tensor* const tensor = owned_tensor(step, suffix, parameters);
  return tensor != nullptr && admitted.has != nullptr && admitted.has(tensor->dtype()) &&
         (!admitted.as_result || tensor->dtype() == dtype_of(*step.result()));
}

bool FastOp::admits_parameters(const Op& step, const ParameterTable& parameters) const {
  return std::ranges::all_of(step.row()->weights, [&](const WeightRow& owned) {
    return admits_parameter(step, owned.suffix, parameters);
  });
}

std::span<const FastOp> fast_ops() {
  return kFastOps.rows();
}

const FastOp* find_fast_op(const Op& op) {
  const FastOp* const row = kFastOps.find(op);
  return row == nullptr && op.has(Trait::kSameBytes) ? kFastOps.find(OpId::kLinalgView) : row;
}

bool has_fast_node(OpId op) {
  return kFastOps.has(op);
}

std::optional<fast::Unary> unary_of(const Op& op) {
  const FastOp* const row = kFastOps.find(op);
  const auto* function = row == nullptr ? nullptr : std::get_if<fast::Unary>(&row->function);
  return function == nullptr ? std::nullopt : std::optional(*function);
}

}  // namespace mir

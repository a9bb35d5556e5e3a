// The table of generic bodies, and the pattern that replaces ops by them.
#include "passes/generic/generic_bodies.hpp"

#include "ir/op_table.hpp"
#include "passes/generic/generic_rules.hpp"
#include "passes/generic/generic_weights.hpp"
#include "passes/generic/op_candidates.hpp"

namespace mir {

namespace generic_body_rules {

using namespace generic_rules;

namespace {

constexpr std::string_view kElement = "the op on one number of each operand",
                           kNoSources = "an element comes from one of several operands",
                           kNoNumbers = "a region cannot read a loop index",
                           kConvolution =
                               "a sum of products that leaves out taps outside, then "
                               "the bias; for weights of Float32",
                           kNorm =
                               "sums, factors of rows, products, in Float64 but for the last; "
                               "for weights of Float32",
                           kState = "it has a state",
                           kOrder = "it compares elements with each other to order them",
                           kSeveral = "attention needs several generic ops",
                           kQuotients =
                               "a copy; the linear offset is divided into indices, so the extents "
                               "must be constant",
                           kSignal = "it computes angles from indices",
                           kRotation =
                               "products with cosines and sines, halves of what rotates are a "
                               "loop; for a constant extent of heads",
                           kItselfOrClone = "itself; CloneOp, if it moves nothing";

using namespace op_candidates;
using Search = GenericBody::Search;

constexpr GenericBody elementwise(OpId op) {
  return {.op = op,
          .text = kElement,
          .why_not = why_not_elementwise,
          .build = elementwise_body,
          .add_candidates = add_elementwise};
}
constexpr GenericBody weighted(OpId op, std::string_view text, auto* add_candidates) {
  return {.op = op,
          .text = text,
          .owns_weights = true,
          .add_candidates = add_candidates,
          .search = Search::kCompound};
}
constexpr GenericBody none(OpId op, std::string_view reason) {
  return {.op = op, .text = reason};
}

constexpr GenericBody kBodies[] = {
    elementwise(OpId::kLinalgAbs),
    elementwise(OpId::kLinalgAdd),
    elementwise(OpId::kLinalgAnd),
    none(OpId::kLinalgArgsort, kOrder),
    elementwise(OpId::kLinalgCastType),
    {.op = OpId::kLinalgCausalMask,
     .text =
         "a copy of what a condition keeps; without positions, for a window with a known number of "
         "queries",
     .why_not = why_not_mask,
     .build = mask_body,
     .add_candidates = add_mask,
     .found_as = "itself; CloneOp, if it masks nothing"},
    elementwise(OpId::kLinalgCeil),
    elementwise(OpId::kLinalgClip),
    {.op = OpId::kLinalgClone,
     .text = "a copy",
     .why_not = always,
     .build = copy_body,
     .add_candidates = add_clone},
    none(OpId::kLinalgCompress, "data decides the extents of the result"),
    none(OpId::kLinalgConcat, kNoSources),
    {.op = OpId::kLinalgContiguous,
     .text = "a copy",
     .why_not = always,
     .build = copy_body,
     .found_as = "CloneOp"},
    weighted(OpId::kLinalgConv1D, kConvolution, add_convolution),
    weighted(OpId::kLinalgConv2D, kConvolution, add_convolution),
    weighted(OpId::kLinalgConv3D, kConvolution, add_convolution),
    none(OpId::kLinalgCopy, kNoSources),
    elementwise(OpId::kLinalgCos),
    {.op = OpId::kLinalgCumSum,
     .text = "a sum over the elements up to each one, by a condition; for a constant dimension of "
             "at most "
             "4096",
     .why_not = why_not_cum_sum,
     .build = cum_sum_body,
     .add_candidates = add_cum_sum},
    none(OpId::kLinalgCustomized, "a plugin computes it"),
    elementwise(OpId::kLinalgDiv),
    {.op = OpId::kLinalgEinsum,
     .text = "a sum of products",
     .why_not = why_not_einsum,
     .build = einsum_body,
     .add_candidates = add_einsum,
     .search = Search::kGeneral,
     .found_as = "itself; MatMulOp or ReduceSumOp, if one has the body"},
    {.op = OpId::kLinalgEmbedding,
     .text = "a copy of the rows that the ids name",
     .owns_weights = true,
     .add_candidates = add_embedding,
     .search = Search::kCompound},
    elementwise(OpId::kLinalgEqual),
    elementwise(OpId::kLinalgErf),
    elementwise(OpId::kLinalgExp),
    none(OpId::kLinalgExtent, "it reads an extent, no elements"),
    none(OpId::kLinalgFill, "its elements do not come from the operand"),
    none(OpId::kLinalgFlashAttention2, kSeveral),
    none(OpId::kLinalgFlashAttention2SwaSink, kSeveral),
    elementwise(OpId::kLinalgFloor),
    elementwise(OpId::kLinalgGELU),
    none(OpId::kLinalgGather, "an index below 0 counts from the end"),
    none(OpId::kLinalgGeneric, "it is already a generic op"),
    elementwise(OpId::kLinalgGreaterEqual),
    elementwise(OpId::kLinalgGreater),
    none(OpId::kLinalgISTFT, kSignal),
    none(OpId::kLinalgIndex, "an index below 0 counts from the end"),
    none(OpId::kLinalgInterpolate, "it computes weights from indices"),
    none(OpId::kLinalgIota, kNoNumbers),
    none(OpId::kLinalgKVCache, kState),
    none(OpId::kLinalgLayerNorm2D, "it normalizes over channels, not over the last dimensions"),
    weighted(OpId::kLinalgLayerNorm, kNorm, add_norm),
    elementwise(OpId::kLinalgLessEqual),
    elementwise(OpId::kLinalgLess),
    weighted(OpId::kLinalgLinear, "a sum of products, then the bias; for weights of Float32",
             add_linear),
    elementwise(OpId::kLinalgLog),
    none(OpId::kLinalgMaskedScatter, "an element's source depends on the elements before it"),
    none(OpId::kLinalgMatchShape, "it checks extents"),
    {.op = OpId::kLinalgMatMul,
     .text = "a sum of products",
     .why_not = why_not_product,
     .build = product_body,
     .add_candidates = add_product},
    elementwise(OpId::kLinalgMaximum),
    {.op = OpId::kLinalgMean,
     .text = "a sum in Float64, then a quotient",
     .why_not = why_not_mean,
     .build = mean_body,
     .add_candidates = add_mean,
     .search = Search::kCompound},
    elementwise(OpId::kLinalgMinimum),
    elementwise(OpId::kLinalgMul),
    {.op = OpId::kLinalgMultimodalRoPE,
     .text = kRotation,
     .why_not = why_not_rotation,
     .build = rotation_body,
     .add_candidates = add_rotation,
     .search = Search::kGeneral,
     .found_as = "itself or RoPEOp"},
    elementwise(OpId::kLinalgNeg),
    elementwise(OpId::kLinalgNotEqual),
    elementwise(OpId::kLinalgNot),
    elementwise(OpId::kLinalgOr),
    none(OpId::kLinalgPad, "some modes mirror, repeat or wrap elements"),
    none(OpId::kLinalgPagedAttn, kSeveral),
    none(OpId::kLinalgParam, "it names a parameter"),
    {.op = OpId::kLinalgPermute,
     .text = "a copy with its dimensions in another order",
     .why_not = always,
     .build = permute_body,
     .add_candidates = add_permute,
     .search = Search::kGeneral,
     .found_as = "itself; CloneOp or TransposeOp, if one has the body"},
    elementwise(OpId::kLinalgQuickGELU),
    weighted(OpId::kLinalgRMSNorm, kNorm, add_norm),
    none(OpId::kLinalgRadixAttnRelax, kSeveral),
    none(OpId::kLinalgRadixAttnSwaSink, kSeveral),
    none(OpId::kLinalgRandomUniform, kState),
    elementwise(OpId::kLinalgReLU),
    {.op = OpId::kLinalgReduceMax,
     .text = "a maximum",
     .why_not = why_not_extreme,
     .build = sum_body,
     .add_candidates = add_reduction},
    {.op = OpId::kLinalgReduceMin,
     .text = "a minimum",
     .why_not = why_not_extreme,
     .build = sum_body,
     .add_candidates = add_reduction},
    {.op = OpId::kLinalgReduceSum,
     .text = "a sum",
     .why_not = why_not_reduction,
     .build = sum_body,
     .add_candidates = add_reduction},
    elementwise(OpId::kLinalgRem),
    {.op = OpId::kLinalgRepeat,
     .text = "a copy of the index divided by the number of repetitions",
     .why_not = why_not_repeat,
     .build = repeat_body,
     .add_candidates = add_repeat,
     .found_as = kItselfOrClone},
    {.op = OpId::kLinalgReshape,
     .text = kQuotients,
     .why_not = why_not_view,
     .build = view_body,
     .found_as = "ViewOp"},
    {.op = OpId::kLinalgRoPE,
     .text = kRotation,
     .why_not = why_not_rotation,
     .build = rotation_body,
     .add_candidates = add_rotation},
    elementwise(OpId::kLinalgRound),
    elementwise(OpId::kLinalgRsqrt),
    none(OpId::kLinalgSTFT, kSignal),
    none(OpId::kLinalgScatter, "data decides where elements are written"),
    elementwise(OpId::kLinalgSiLU),
    elementwise(OpId::kLinalgSigmoid),
    elementwise(OpId::kLinalgSign),
    elementwise(OpId::kLinalgSin),
    {.op = OpId::kLinalgSlice,
     .text = "a copy with a start and a step",
     .why_not = why_not_slice,
     .build = slice_body,
     .add_candidates = add_slice,
     .found_as = kItselfOrClone},
    {.op = OpId::kLinalgSoftmax,
     .text = "a maximum, exponentials, a sum in Float64, then quotients",
     .why_not = why_not_softmax,
     .build = softmax_body,
     .add_candidates = add_softmax,
     .search = Search::kCompound},
    none(OpId::kLinalgSplit, "it has several results"),
    elementwise(OpId::kLinalgSqrt),
    none(OpId::kLinalgStack, kNoSources),
    elementwise(OpId::kLinalgSub),
    elementwise(OpId::kLinalgTanh),
    none(OpId::kLinalgTopK, kOrder),
    {.op = OpId::kLinalgTranspose,
     .text = "a copy with two indices exchanged",
     .why_not = always,
     .build = transpose_body,
     .add_candidates = add_transpose,
     .found_as = kItselfOrClone},
    elementwise(OpId::kLinalgTrunc),
    {.op = OpId::kLinalgView,
     .text = kQuotients,
     .why_not = why_not_view,
     .build = view_body,
     .add_candidates = add_view},
    {.op = OpId::kLinalgVisionRoPE,
     .text = kRotation,
     .why_not = why_not_rotation,
     .build = rotation_body,
     .add_candidates = add_rotation,
     .search = Search::kGeneral,
     .found_as = "itself, RoPEOp or MultimodalRoPEOp"},
    {.op = OpId::kLinalgWhere,
     .text = "the op on one number of each operand, of integers and Bool",
     .why_not = why_not_where,
     .build = elementwise_body,
     .add_candidates = add_elementwise},
    none(OpId::kLinalgX2X, "it moves a value to another device"),
    elementwise(OpId::kLinalgXor),
};
constexpr OpTable kTable(kBodies);

PatternMatch match_body(Op& op) {
  const GenericBody* body = kTable.find(op);
  if (body == nullptr || body->build == nullptr) {
    return PatternMatch::failed("the op has no generic body", op);
  }
  const Op* around = op.parent_op();
  if (around != nullptr && around->is(OpId::kLinalgGeneric, OpId::kLoopKernel, OpId::kLoopNest)) {
    return PatternMatch::failed("the op is in the region of loops", op);
  }
  if (op.result_count() != 1) return PatternMatch::failed("the op has no single result", op);
  std::string_view why = why_not_values(op);
  if (why.empty()) why = body->why_not(op);
  return why.empty() ? PatternMatch::of({&op}) : PatternMatch::failed(why, op);
}

void rewrite_body(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  rewriter.set_insertion_point(op);
  Value* const made = kTable.find(op)->build(rewriter, op);
  const ValueName name = op.result()->name();
  rewriter.set_name(*op.result(), made->name());
  rewriter.set_name(*made, name);
  rewriter.replace(op, {&made, 1});
}

}  // namespace

}  // namespace generic_body_rules

using generic_body_rules::kBodies;

std::span<const GenericBody> generic_bodies() {
  return kBodies;
}

PatternSet generic_body_patterns(const ParameterTypes* parameters) {
  std::vector<std::string> names;
  for (const GenericBody& each : kBodies) {
    if (each.build != nullptr) names.push_back(std::string(name_of(each.op)));
  }
  PatternSet set;
  set.add({.name = "generic-body",
           .roots = {.names = std::move(names)},
           .makes = {"linalg", "cf.YieldOp"},
           .match = generic_body_rules::match_body,
           .rewrite = generic_body_rules::rewrite_body});
  if (parameters != nullptr) add_weighted_bodies(set, *parameters);
  return set;
}

}  // namespace mir

// The table of generic bodies, and the pattern that replaces ops by them.
#include "passes/generic/generic_bodies.hpp"

#include "ir/op_table.hpp"
#include "passes/generic/generic_rules.hpp"
#include "passes/generic/generic_weights.hpp"

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
                               "loop; for a constant extent of heads";

constexpr GenericBody elementwise(OpId op) {
  return {op, kElement, why_not_elementwise, elementwise_body};
}
constexpr GenericBody weighted(OpId op, std::string_view text) {
  return {.op = op, .text = text, .owns_weights = true};
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
    {OpId::kLinalgCausalMask,
     "a copy of what a condition keeps; without positions, for a window with a known number of "
     "queries",
     why_not_mask, mask_body},
    elementwise(OpId::kLinalgCeil),
    elementwise(OpId::kLinalgClip),
    {OpId::kLinalgClone, "a copy", always, copy_body},
    none(OpId::kLinalgCompress, "data decides the extents of the result"),
    none(OpId::kLinalgConcat, kNoSources),
    {OpId::kLinalgContiguous, "a copy", always, copy_body},
    weighted(OpId::kLinalgConv1D, kConvolution),
    weighted(OpId::kLinalgConv2D, kConvolution),
    weighted(OpId::kLinalgConv3D, kConvolution),
    none(OpId::kLinalgCopy, kNoSources),
    elementwise(OpId::kLinalgCos),
    {OpId::kLinalgCumSum,
     "a sum over the elements up to each one, by a condition; for a constant dimension of at most "
     "4096",
     why_not_cum_sum, cum_sum_body},
    none(OpId::kLinalgCustomized, "a plugin computes it"),
    elementwise(OpId::kLinalgDiv),
    {OpId::kLinalgEinsum, "a sum of products", why_not_einsum, einsum_body},
    weighted(OpId::kLinalgEmbedding, "a copy of the rows that the ids name"),
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
    weighted(OpId::kLinalgLayerNorm, kNorm),
    elementwise(OpId::kLinalgLessEqual),
    elementwise(OpId::kLinalgLess),
    weighted(OpId::kLinalgLinear, "a sum of products, then the bias; for weights of Float32"),
    elementwise(OpId::kLinalgLog),
    none(OpId::kLinalgMaskedScatter, "an element's source depends on the elements before it"),
    none(OpId::kLinalgMatchShape, "it checks extents"),
    {OpId::kLinalgMatMul, "a sum of products", why_not_product, product_body},
    elementwise(OpId::kLinalgMaximum),
    {OpId::kLinalgMean, "a sum in Float64, then a quotient", why_not_mean, mean_body},
    elementwise(OpId::kLinalgMinimum),
    elementwise(OpId::kLinalgMul),
    {OpId::kLinalgMultimodalRoPE, kRotation, why_not_rotation, rotation_body},
    elementwise(OpId::kLinalgNeg),
    elementwise(OpId::kLinalgNotEqual),
    elementwise(OpId::kLinalgNot),
    elementwise(OpId::kLinalgOr),
    none(OpId::kLinalgPad, "some modes mirror, repeat or wrap elements"),
    none(OpId::kLinalgPagedAttn, kSeveral),
    none(OpId::kLinalgParam, "it names a parameter"),
    {OpId::kLinalgPermute, "a copy with its dimensions in another order", always, permute_body},
    elementwise(OpId::kLinalgQuickGELU),
    weighted(OpId::kLinalgRMSNorm, kNorm),
    none(OpId::kLinalgRadixAttnRelax, kSeveral),
    none(OpId::kLinalgRadixAttnSwaSink, kSeveral),
    none(OpId::kLinalgRandomUniform, kState),
    elementwise(OpId::kLinalgReLU),
    {OpId::kLinalgReduceMax, "a maximum", why_not_extreme, sum_body},
    {OpId::kLinalgReduceMin, "a minimum", why_not_extreme, sum_body},
    {OpId::kLinalgReduceSum, "a sum", why_not_reduction, sum_body},
    elementwise(OpId::kLinalgRem),
    {OpId::kLinalgRepeat, "a copy of the index divided by the number of repetitions",
     why_not_repeat, repeat_body},
    {OpId::kLinalgReshape, kQuotients, why_not_view, view_body},
    {OpId::kLinalgRoPE, kRotation, why_not_rotation, rotation_body},
    elementwise(OpId::kLinalgRound),
    elementwise(OpId::kLinalgRsqrt),
    none(OpId::kLinalgSTFT, kSignal),
    none(OpId::kLinalgScatter, "data decides where elements are written"),
    elementwise(OpId::kLinalgSiLU),
    elementwise(OpId::kLinalgSigmoid),
    elementwise(OpId::kLinalgSign),
    elementwise(OpId::kLinalgSin),
    {OpId::kLinalgSlice, "a copy with a start and a step", why_not_slice, slice_body},
    {OpId::kLinalgSoftmax, "a maximum, exponentials, a sum in Float64, then quotients",
     why_not_softmax, softmax_body},
    none(OpId::kLinalgSplit, "it has several results"),
    elementwise(OpId::kLinalgSqrt),
    none(OpId::kLinalgStack, kNoSources),
    elementwise(OpId::kLinalgSub),
    elementwise(OpId::kLinalgTanh),
    none(OpId::kLinalgTopK, kOrder),
    {OpId::kLinalgTranspose, "a copy with two indices exchanged", always, transpose_body},
    elementwise(OpId::kLinalgTrunc),
    {OpId::kLinalgView, kQuotients, why_not_view, view_body},
    {OpId::kLinalgVisionRoPE, kRotation, why_not_rotation, rotation_body},
    {OpId::kLinalgWhere, "the op on one number of each operand, of integers and Bool",
     why_not_where, elementwise_body},
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

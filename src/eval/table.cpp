// The table of evaluators by op, and the entry points of evaluation.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "eval/evaluators.hpp"
#include "eval/stand_ins.hpp"
#include "ir/op_table.hpp"
#include "kernels/ref/elementwise.hpp"
#include "kernels/ref/movement.hpp"
#include "kernels/ref/unary.hpp"
#include "mir/codes/runs.hpp"

namespace mir {

namespace eval {

namespace {

/// Where the bytes of results come from.
enum class ResultStorage : std::uint8_t {
  kFresh,  ///< allocated before the evaluator runs
  kOther,  ///< the evaluator sets the results
};

struct EvalRow {
  OpId op;
  Result<void> (*evaluate)(EvalCall& call);
  ResultStorage storage = ResultStorage::kFresh;
  /// Check before the operands are passed to the rule, or null.
  Result<void> (*admit)(EvalCall& call) = nullptr;
};

template <Result<void> (*Kernel)(const ref::View&, const ref::MutableView&)>
Result<void> unary(EvalCall& call) {
  return Kernel(call.in(0), call.out());
}

template <Result<void> (*Kernel)(const ref::View&, const ref::View&, const ref::MutableView&)>
Result<void> binary(EvalCall& call) {
  return Kernel(call.in(0), call.in(1), call.out());
}

constexpr EvalRow kRows[] = {
    {OpId::kLinalgAbs, absolute},
    {OpId::kLinalgAdd, binary<ref::add>},
    {OpId::kLinalgAnd, binary<ref::logical_and>},
    {OpId::kLinalgArgsort, argsort},
    {OpId::kLinalgCastType, unary<ref::cast>},
    {OpId::kLinalgCausalMask, causal_mask},
    {OpId::kLinalgCeil, unary<ref::ceil>},
    {OpId::kLinalgClip, clip},
    {OpId::kLinalgClone, same_bytes, ResultStorage::kOther},
    {OpId::kLinalgCompress, compress, ResultStorage::kOther},
    {OpId::kLinalgConcat, concat},
    {OpId::kLinalgContiguous, same_bytes, ResultStorage::kOther},
    {OpId::kLinalgConv1D, conv},
    {OpId::kLinalgConv2D, conv},
    {OpId::kLinalgConv3D, conv},
    {OpId::kLinalgCopy, copy},
    {OpId::kLinalgCos, unary<ref::cos>},
    {OpId::kLinalgCumSum, cum_sum},
    {OpId::kLinalgDiv, binary<ref::div>},
    {OpId::kLinalgEinsum, einsum},
    {OpId::kLinalgEmbedding, embedding},
    {OpId::kLinalgEqual, binary<ref::equal>},
    {OpId::kLinalgErf, unary<ref::erf>},
    {OpId::kLinalgExp, unary<ref::exp>},
    {OpId::kLinalgExtent, extent},
    {OpId::kLinalgFill, fill},
    {OpId::kLinalgFlashAttention2, flash_attention2},
    {OpId::kLinalgFlashAttention2SwaSink, swa_sink_attention},
    {OpId::kLinalgFloor, unary<ref::floor>},
    {OpId::kLinalgGELU, unary<ref::gelu>},
    {OpId::kLinalgGather, gather},
    {OpId::kLinalgGeneric, generic},
    {OpId::kLinalgGreaterEqual, binary<ref::greater_equal>},
    {OpId::kLinalgGreater, binary<ref::greater>},
    {OpId::kLinalgISTFT, istft},
    {OpId::kLinalgIndex, index, ResultStorage::kOther},
    {OpId::kLinalgInterpolate, interpolate},
    {OpId::kLinalgIota, iota},
    {OpId::kLinalgKVCache, kv_cache, ResultStorage::kOther, admit_tokens},
    {OpId::kLinalgLayerNorm2D, layer_norm_2d},
    {OpId::kLinalgLayerNorm, layer_norm},
    {OpId::kLinalgLessEqual, binary<ref::less_equal>},
    {OpId::kLinalgLess, binary<ref::less>},
    {OpId::kLinalgLinear, linear},
    {OpId::kLinalgLog, unary<ref::log>},
    {OpId::kLinalgMaskedScatter, masked_scatter},
    {OpId::kLinalgMatchShape, match_shape, ResultStorage::kOther},
    {OpId::kLinalgMatMul, matmul},
    {OpId::kLinalgMaximum, binary<ref::maximum>},
    {OpId::kLinalgMean, mean},
    {OpId::kLinalgMinimum, binary<ref::minimum>},
    {OpId::kLinalgMul, binary<ref::mul>},
    {OpId::kLinalgMultimodalRoPE, multimodal_rope},
    {OpId::kLinalgNeg, unary<ref::neg>},
    {OpId::kLinalgNotEqual, binary<ref::not_equal>},
    {OpId::kLinalgNot, unary<ref::logical_not>},
    {OpId::kLinalgOr, binary<ref::logical_or>},
    {OpId::kLinalgPad, pad},
    {OpId::kLinalgPagedAttn, paged_attention},
    {OpId::kLinalgParam, param, ResultStorage::kOther},
    {OpId::kLinalgPermute, permute},
    {OpId::kLinalgQuickGELU, unary<ref::quick_gelu>},
    {OpId::kLinalgRMSNorm, rms_norm},
    {OpId::kLinalgRadixAttnRelax, radix_attention},
    {OpId::kLinalgRadixAttnSwaSink, radix_attention},
    {OpId::kLinalgRandomUniform, random_uniform},
    {OpId::kLinalgReLU, unary<ref::relu>},
    {OpId::kLinalgReduceMax, reduce_max},
    {OpId::kLinalgReduceMin, reduce_min},
    {OpId::kLinalgReduceSum, reduce_sum},
    {OpId::kLinalgRem, binary<ref::rem>},
    {OpId::kLinalgRepeat, repeat},
    {OpId::kLinalgReshape, same_bytes, ResultStorage::kOther},
    {OpId::kLinalgRoPE, rope},
    {OpId::kLinalgRound, unary<ref::round>},
    {OpId::kLinalgRsqrt, unary<ref::rsqrt>},
    {OpId::kLinalgSTFT, stft},
    {OpId::kLinalgScatter, scatter},
    {OpId::kLinalgSiLU, unary<ref::silu>},
    {OpId::kLinalgSigmoid, unary<ref::sigmoid>},
    {OpId::kLinalgSign, unary<ref::sign>},
    {OpId::kLinalgSin, unary<ref::sin>},
    {OpId::kLinalgSlice, slice},
    {OpId::kLinalgSoftmax, softmax},
    {OpId::kLinalgSplit, split},
    {OpId::kLinalgSqrt, unary<ref::sqrt>},
    {OpId::kLinalgStack, stack},
    {OpId::kLinalgSub, binary<ref::sub>},
    {OpId::kLinalgTanh, unary<ref::tanh>},
    {OpId::kLinalgTopK, top_k},
    {OpId::kLinalgTranspose, transpose},
    {OpId::kLinalgTrunc, unary<ref::trunc>},
    {OpId::kLinalgView, same_bytes, ResultStorage::kOther},
    {OpId::kLinalgVisionRoPE, vision_rope},
    {OpId::kLinalgWhere, where},
    {OpId::kLinalgX2X, same_bytes, ResultStorage::kOther},
    {OpId::kLinalgXor, binary<ref::logical_xor>},
    {OpId::kLoopKernel, loop_kernel},
    {OpId::kTensorAlloc, no_content},
};
constexpr OpTable kTable(kRows);

}  // namespace

}  // namespace eval

bool is_executable(OpId op) {
  return eval::kTable.has(op);
}

namespace {

const CustomOp* custom_op(const Op& op, const EvalEnvironment& environment) {
  if (environment.custom == nullptr) return nullptr;
  auto found = environment.custom->find(op.name());
  if (found == environment.custom->end()) found = environment.custom->find(op.info().mnemonic);
  return found == environment.custom->end() ? nullptr : &found->second;
}

Result<std::vector<Tensor>> evaluate_custom(const eval::EvalCall& call, const CustomOp& compute,
                                            std::span<const Tensor> operands) {
  auto results = compute(call.op(), operands);
  if (!results) return call.error(results.error().code, results.error().message);
  const bool all = std::ranges::all_of(*results, &Tensor::defined);
  if (results->size() == call.op().result_count() && all) return results;
  return call.error(diag::kResultMismatch, fmt::format("{} tensors were computed for {} results",
                                                       results->size(), call.op().result_count()));
}

}  // namespace

Result<std::vector<Tensor>> evaluate(const Op& op, std::span<const Tensor> operands,
                                     const EvalEnvironment& environment) {
  eval::EvalCall call(op, operands, environment);
  const eval::EvalRow* row = eval::kTable.find(op);
  if (row == nullptr) {
    const CustomOp* custom = custom_op(op, environment);
    if (custom != nullptr) return evaluate_custom(call, *custom, operands);
  }
  if (row == nullptr) return call.error(diag::kNotExecutable, "no evaluator computes it");
  if (auto ok = call.prepare(); !ok) return std::move(ok).error();
  if (row->admit != nullptr) {
    if (auto ok = row->admit(call); !ok) return std::move(ok).error();
  }
  if (auto ok = call.infer(); !ok) return std::move(ok).error();
  if (eval::needs_stand_ins(call)) {
    if (auto ok = eval::evaluate_on_stand_ins(call, row->evaluate); !ok)
      return std::move(ok).error();
    return call.take_results();
  }
  if (row->storage == eval::ResultStorage::kFresh) {
    if (auto ok = call.allocate_results(); !ok) return std::move(ok).error();
  }
  if (auto ok = row->evaluate(call); !ok) return std::move(ok).error();
  return call.take_results();
}

}  // namespace mir

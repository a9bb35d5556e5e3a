#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "eval/evaluators.hpp"
#include "eval/stand_ins.hpp"
#include "ir/op_table.hpp"
#include "kernels/ref/elementwise.hpp"
#include "kernels/ref/movement.hpp"
#include "kernels/ref/unary.hpp"

namespace mir {

namespace eval {

namespace {

/// Where the bytes of results come from.
enum class Storage : std::uint8_t {
  kFresh,     ///< allocated before the evaluator runs
  kOperand0,  ///< those of operand 0; the evaluator sets the result
  kOther,     ///< the evaluator sets the results
};

struct EvalRow {
  OpId op;
  Result<void> (*evaluate)(EvalCall& call);
  /// Whether results hold elements of operands and nothing else, or nothing at all.
  bool moves = false;
  Storage storage = Storage::kFresh;
  /// What must hold before the operands are put through the rule; null: nothing.
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

constexpr bool kMoves = true;

constexpr EvalRow kRows[] = {
    {OpId::kLinalgAbs, absolute},
    {OpId::kLinalgAdd, binary<ref::add>},
    {OpId::kLinalgArgsort, argsort},
    {OpId::kLinalgCastType, unary<ref::cast>},
    {OpId::kLinalgCausalMask, causal_mask},
    {OpId::kLinalgClip, clip},
    {OpId::kLinalgClone, same_bytes, kMoves, Storage::kOperand0},
    {OpId::kLinalgConcat, concat, kMoves},
    {OpId::kLinalgContiguous, same_bytes, kMoves, Storage::kOperand0},
    {OpId::kLinalgConv1D, conv},
    {OpId::kLinalgConv2D, conv},
    {OpId::kLinalgConv3D, conv},
    {OpId::kLinalgCopy, copy, kMoves},
    {OpId::kLinalgCos, unary<ref::cos>},
    {OpId::kLinalgDiv, binary<ref::div>},
    {OpId::kLinalgEinsum, einsum},
    {OpId::kLinalgEmbedding, embedding},
    {OpId::kLinalgEqual, binary<ref::equal>},
    {OpId::kLinalgExp, unary<ref::exp>},
    {OpId::kLinalgFill, fill},
    {OpId::kLinalgFlashAttention2, flash_attention2},
    {OpId::kLinalgFlashAttention2SwaSink, swa_sink_attention},
    {OpId::kLinalgGELU, unary<ref::gelu>},
    {OpId::kLinalgGather, gather, kMoves},
    {OpId::kLinalgISTFT, istft},
    {OpId::kLinalgIndex, index, kMoves, Storage::kOther},
    {OpId::kLinalgInterpolate, interpolate},
    {OpId::kLinalgKVCache, kv_cache, kMoves, Storage::kOther, admit_tokens},
    {OpId::kLinalgLayerNorm2D, layer_norm_2d},
    {OpId::kLinalgLayerNorm, layer_norm},
    {OpId::kLinalgLinear, linear},
    {OpId::kLinalgLog, unary<ref::log>},
    {OpId::kLinalgMaskedScatter, masked_scatter},
    {OpId::kLinalgMatMul, matmul},
    {OpId::kLinalgMean, mean},
    {OpId::kLinalgMul, binary<ref::mul>},
    {OpId::kLinalgMultimodalRoPE, multimodal_rope},
    {OpId::kLinalgNeg, unary<ref::neg>},
    {OpId::kLinalgPad, pad},
    {OpId::kLinalgPagedAttn, paged_attention},
    {OpId::kLinalgParam, param, kMoves, Storage::kOther},
    {OpId::kLinalgPermute, permute, kMoves},
    {OpId::kLinalgQuickGELU, unary<ref::quick_gelu>},
    {OpId::kLinalgRMSNorm, rms_norm},
    {OpId::kLinalgRadixAttnRelax, radix_attention},
    {OpId::kLinalgRadixAttnSwaSink, radix_attention},
    {OpId::kLinalgReLU, unary<ref::relu>},
    {OpId::kLinalgReduceMax, reduce_max},
    {OpId::kLinalgReduceMin, reduce_min},
    {OpId::kLinalgReduceSum, reduce_sum},
    {OpId::kLinalgRepeat, repeat, kMoves},
    {OpId::kLinalgReshape, same_bytes, kMoves, Storage::kOperand0},
    {OpId::kLinalgRoPE, rope},
    {OpId::kLinalgSTFT, stft},
    {OpId::kLinalgScatter, scatter},
    {OpId::kLinalgSiLU, unary<ref::silu>},
    {OpId::kLinalgSigmoid, unary<ref::sigmoid>},
    {OpId::kLinalgSin, unary<ref::sin>},
    {OpId::kLinalgSlice, slice, kMoves},
    {OpId::kLinalgSoftmax, softmax},
    {OpId::kLinalgSplit, split, kMoves},
    {OpId::kLinalgStack, stack, kMoves},
    {OpId::kLinalgSub, binary<ref::sub>},
    {OpId::kLinalgTopK, top_k},
    {OpId::kLinalgTranspose, transpose, kMoves},
    {OpId::kLinalgView, same_bytes, kMoves, Storage::kOperand0},
    {OpId::kLinalgVisionRoPE, vision_rope},
    {OpId::kLinalgWhere, where},
    {OpId::kLinalgX2X, same_bytes, kMoves, Storage::kOperand0},
    {OpId::kTensorAlloc, no_content, kMoves},
};
constexpr OpTable kTable(kRows);

}  // namespace

}  // namespace eval

bool is_executable(OpId op) {
  return eval::kTable.has(op);
}

bool moves_elements(const Op& op) {
  const eval::EvalRow* row = eval::kTable.find(op);
  return row != nullptr && row->moves;
}

bool shares_operand(const Op& op) {
  const eval::EvalRow* row = eval::kTable.find(op);
  return row != nullptr && row->storage == eval::Storage::kOperand0;
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
  return call.error(DiagCode::kResultMismatch,
                    fmt::format("{} tensors were computed for {} results", results->size(),
                                call.op().result_count()));
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
  if (row == nullptr) return call.error(DiagCode::kNotExecutable, "no evaluator computes it");
  if (auto ok = call.prepare(); !ok) return std::move(ok).error();
  if (row->admit != nullptr) {
    if (auto ok = row->admit(call); !ok) return std::move(ok).error();
  }
  if (auto ok = call.infer(); !ok) return std::move(ok).error();
  if (eval::needs_stand_ins(call, row->moves)) {
    if (auto ok = eval::evaluate_on_stand_ins(call, row->evaluate); !ok)
      return std::move(ok).error();
    return call.take_results();
  }
  if (row->storage == eval::Storage::kFresh) {
    if (auto ok = call.allocate_results(); !ok) return std::move(ok).error();
  }
  if (auto ok = row->evaluate(call); !ok) return std::move(ok).error();
  return call.take_results();
}

}  // namespace mir

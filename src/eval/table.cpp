#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "eval/evaluators.hpp"
#include "eval/stand_ins.hpp"
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
  std::string_view op;
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
    {"linalg.AbsOp", absolute},
    {"linalg.AddOp", binary<ref::add>},
    {"linalg.ArgsortOp", argsort},
    {"linalg.CastTypeOp", unary<ref::cast>},
    {"linalg.CausalMaskOp", causal_mask},
    {"linalg.ClipOp", clip},
    {"linalg.CloneOp", same_bytes, kMoves, Storage::kOperand0},
    {"linalg.ConcatOp", concat, kMoves},
    {"linalg.ContiguousOp", same_bytes, kMoves, Storage::kOperand0},
    {"linalg.Conv1DOp", conv},
    {"linalg.Conv2DOp", conv},
    {"linalg.Conv3DOp", conv},
    {"linalg.CopyOp", copy, kMoves},
    {"linalg.CosOp", unary<ref::cos>},
    {"linalg.DivOp", binary<ref::div>},
    {"linalg.EinsumOp", einsum},
    {"linalg.EmbeddingOp", embedding},
    {"linalg.EqualOp", binary<ref::equal>},
    {"linalg.ExpOp", unary<ref::exp>},
    {"linalg.FillOp", fill},
    {"linalg.FlashAttention2Op", flash_attention2},
    {"linalg.FlashAttention2SwaSinkOp", swa_sink_attention},
    {"linalg.GELUOp", unary<ref::gelu>},
    {"linalg.GatherOp", gather, kMoves},
    {"linalg.ISTFTOp", istft},
    {"linalg.IndexOp", index, kMoves, Storage::kOther},
    {"linalg.InterpolateOp", interpolate},
    {"linalg.KVCacheOp", kv_cache, kMoves, Storage::kOther, admit_tokens},
    {"linalg.LayerNorm2DOp", layer_norm_2d},
    {"linalg.LayerNormOp", layer_norm},
    {"linalg.LinearOp", linear},
    {"linalg.LogOp", unary<ref::log>},
    {"linalg.MaskedScatterOp", masked_scatter},
    {"linalg.MatMulOp", matmul},
    {"linalg.MeanOp", mean},
    {"linalg.MulOp", binary<ref::mul>},
    {"linalg.MultimodalRoPEOp", multimodal_rope},
    {"linalg.NegOp", unary<ref::neg>},
    {"linalg.PadOp", pad},
    {"linalg.PagedAttnOp", paged_attention},
    {"linalg.ParamOp", param, kMoves, Storage::kOther},
    {"linalg.PermuteOp", permute, kMoves},
    {"linalg.QuickGELUOp", unary<ref::quick_gelu>},
    {"linalg.RMSNormOp", rms_norm},
    {"linalg.RadixAttnRelaxOp", radix_attention},
    {"linalg.RadixAttnSwaSinkOp", radix_attention},
    {"linalg.ReLUOp", unary<ref::relu>},
    {"linalg.ReduceMaxOp", reduce_max},
    {"linalg.ReduceMinOp", reduce_min},
    {"linalg.ReduceSumOp", reduce_sum},
    {"linalg.RepeatOp", repeat, kMoves},
    {"linalg.ReshapeOp", same_bytes, kMoves, Storage::kOperand0},
    {"linalg.RoPEOp", rope},
    {"linalg.STFTOp", stft},
    {"linalg.ScatterOp", scatter},
    {"linalg.SiLUOp", unary<ref::silu>},
    {"linalg.SigmoidOp", unary<ref::sigmoid>},
    {"linalg.SinOp", unary<ref::sin>},
    {"linalg.SliceOp", slice, kMoves},
    {"linalg.SoftmaxOp", softmax},
    {"linalg.SplitOp", split, kMoves},
    {"linalg.StackOp", stack, kMoves},
    {"linalg.SubOp", binary<ref::sub>},
    {"linalg.TopKOp", top_k},
    {"linalg.TransposeOp", transpose, kMoves},
    {"linalg.ViewOp", same_bytes, kMoves, Storage::kOperand0},
    {"linalg.VisionRoPEOp", vision_rope},
    {"linalg.WhereOp", where},
    {"linalg.X2XOp", same_bytes, kMoves, Storage::kOperand0},
    {"tensor.alloc", no_content, kMoves},
};
static_assert(std::ranges::is_sorted(kRows, {}, &EvalRow::op));

constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kRows)> names;
  std::ranges::transform(kRows, names.begin(), &EvalRow::op);
  return names;
}();

const EvalRow* row_of(const Op& op) {
  const auto found = std::ranges::lower_bound(kRows, op.name(), {}, &EvalRow::op);
  return found != std::end(kRows) && found->op == op.name() ? found : nullptr;
}

}  // namespace

}  // namespace eval

bool is_executable(const Op& op) {
  return eval::row_of(op) != nullptr;
}

std::span<const std::string_view> executable_ops() {
  return eval::kNames;
}

bool moves_elements(const Op& op) {
  const eval::EvalRow* row = eval::row_of(op);
  return row != nullptr && row->moves;
}

bool shares_operand(const Op& op) {
  const eval::EvalRow* row = eval::row_of(op);
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
  const eval::EvalRow* row = eval::row_of(op);
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

// The rule library: result types from operand types and attributes.
//
// Every rule is an InferFn. It is called after arity has been checked, trusts nothing else, and
// either appends one type per result or reports what was found and what was expected (codes
// MIR05xx) and gives false. Rules that hold for all of them:
// - Extents are symbolic. Two extents *agree* when they are the same expression or one is unknown;
//   the known one is kept. Two different expressions do not agree, even if some binding of their
//   symbols would make them equal.
// - A negative constant extent (dumps have them) counts as unknown.
// - Element types that the toolkit does not know, and quantised ones in place of floating ones, are
//   accepted; operands of one type class otherwise need equal element types.
// - Device and encoding of a result are those of operand 0 unless stated; a result with another
//   element type has no encoding.
// - Attributes whose extents follow from the operands (in_channels, head counts) are checked where
//   they are present. Where a result type depends on an absent attribute, the unknown part is an
//   unknown extent; where nothing is known of a type (no to_shape, dtype or device), the rule
//   appends none: the declared type is kept.
// - Conditions that only a run can check, such as indices in an operand, are stated by the
//   run_needs... functions, for may_refuse().
#pragma once

#include <span>
#include <string_view>

#include "mir/context.hpp"
#include "mir/infer.hpp"

namespace mir::rules {

struct NamedRule {
  std::string_view name;
  InferFn function;
};
/// Every rule below under its name, sorted by it.
std::span<const NamedRule> all();

// -- elementwise ----------------------------------------------------------------------------------
/// x -> like x.
bool same(InferContext& op);
/// x -> like x, any numeric element type.
bool unary(InferContext& op);
/// x -> like x, floating element types.
bool unary_float(InferContext& op);
/// x -> like x; complex -> Float32.
bool absolute(InferContext& op);
/// (a, b) -> broadcast shape: right-aligned, missing dimensions count as 1, extents agree or one is
/// the constant 1. Element type of a, or of b where only b is complex.
bool binary(InferContext& op);
/// As binary, for real numbers.
bool binary_real(InferContext& op);
/// (a, b) -> broadcast shape, Bool.
bool equal(InferContext& op);
/// As equal, for elements that have an order: real numbers and Bool.
bool compare(InferContext& op);
/// Bool operands -> broadcast shape, Bool.
bool logical(InferContext& op);
/// (condition, a, b) -> like a; condition (Bool, UInt8, Int8) and b broadcast to a.
bool where(InferContext& op);
/// (dst, mask, src) -> like dst; mask (Bool, UInt8, Int8) and src broadcast to dst.
bool masked_scatter(InferContext& op);
/// x -> x with element type `dtype`.
bool cast_type(InferContext& op);
/// x -> x on `device`.
bool x2x(InferContext& op);
/// dst -> like dst; checks `type`.
bool fill(InferContext& op);

// -- linear ---------------------------------------------------------------------------------------
/// A [batch.., M, K] (transpose_a: [.., K, M]), B [.., K, N] (transpose_b: [.., N, K]) ->
/// [batch.., M, N]. B has rank 2 or A's rank; each of its batch extents agrees with A's, is 1, or
/// divides it.
bool matmul(InferContext& op);
/// ids (Int32, Int64) [..] -> [.., hidden_size] of element type `dtype`.
bool embedding(InferContext& op);
/// x [.., in_channels] -> [.., out_channels]; with a destination, like it. Element type by
/// impl_type: KaiLinear_f32_* and GGUF Float32, KaiLinear_f16_* and KaiLinear_fp16_* Float16,
/// QNN_LPBQ_* UInt16PerTensor, else x's.
bool linear(InferContext& op);

// -- norm -----------------------------------------------------------------------------------------
/// x of rank at least 1 -> like x.
bool rms_norm(InferContext& op);
/// x whose trailing extents agree with normalized_shape -> like x.
bool layer_norm(InferContext& op);
/// x [N, num_channels, H, W] -> like x.
bool layer_norm_2d(InferContext& op);
/// x -> like x; `axis` in range.
bool softmax(InferContext& op);
/// x [.., S, T] with T >= S where both are constants -> like x.
bool causal_mask(InferContext& op);

// -- rope, cache, attention -----------------------------------------------------------------------
/// (x, sin, cos) -> like x. x rank 4 in `input_type`; tables [B or 1, S, W] or [S, W] of one shape
/// with W at least half of the rotated elements (an even number up to D).
bool rope(InferContext& op);
/// As rope, without partial_dim.
bool multimodal_rope(InferContext& op);
/// As multimodal_rope for [B, S, H, D].
bool vision_rope(InferContext& op);
/// (k, v) of one type [B, kv_head, S, head_dim] -> two of [B, kv_head, past + S, head_dim];
/// use_fa2: dimensions 1 and 2 exchanged.
bool kv_cache(InferContext& op);
/// (q [B, Sq, Hq, D], k [B, Skv, Hkv, D], v like k) -> like q; Hkv divides Hq.
bool flash_attention2(InferContext& op);
/// (q [B, Sq, Hq, Dqk], k [B, Skv, Hkv, Dqk], v [B, Skv, Hkv, Dv], s_aux [Hq] if s_aux_enable) ->
/// [B, Sq, Hq, Dv] of v's element type.
bool swa_sink_attention(InferContext& op);
/// (q [B, Sq, Hq, D], k [B, T, Hkv, D], v [B, T, Hkv, D], index [Skv] Int32, mask [Sq, Skv]) ->
/// [B, Sq, Hq, D] and, if need_attn_weights, [B, Hq, Sq, Skv].
bool paged_attention(InferContext& op);
/// (q [B, Sq, q_head, D_QK], key rows [Skv], value rows [Skv], k [T, B, kv_head, D_QK],
/// v [.., B, kv_head, D_V], s_aux [q_head] if s_aux_enable) -> [B, Sq, q_head, D_V]; as upstream
/// has it, without k and v and with machine addresses for rows.
bool radix_attention(InferContext& op);

// -- views ----------------------------------------------------------------------------------------
/// x -> `to_shape`, one entry of which may be -1. Element counts are compared as polynomials.
bool view(InferContext& op);
/// As view with `shape`.
bool reshape(InferContext& op);
/// x -> Int64 [1]: the extent at `dim`, which is in range.
bool extent(InferContext& op);
/// x -> `shape`, which has the rank of x. A run compares the extents.
bool match_shape(InferContext& op);
/// x -> the part that `indices` names. One entry per dimension: {start, end, step}, any of which
/// may be missing, or the word all; start and end may be extents, the word all or 2147483633 (all).
/// A negative constant counts from the end; start -1 with end 0 is the last element. Bounds are
/// checked as far as they are constants; end <= start gives extent 0.
bool slice(InferContext& op);
/// x -> pieces along `dim`: one entry of split_size_or_sections is the extent of each piece and
/// divides the extent of x, several are the extents of the pieces and sum up to it.
bool split(InferContext& op);
/// (src, dst) -> like dst: dst with the part that `indices` names (all of it without) replaced by
/// src. src has the part's element count and dst's element type. Nothing without a result.
bool copy(InferContext& op);
/// (x, indices..) -> the extents of each entry of `indices`, in order: of a slice its length, of a
/// list its length, of an operand number the extents of that operand (Int32, Int64). One entry per
/// dimension of x.
bool index(InferContext& op);

// -- movement -------------------------------------------------------------------------------------
/// x -> dim0 and dim1 exchanged.
bool transpose(InferContext& op);
/// x -> extent i is extent axis[i] of x.
bool permute(InferContext& op);
/// x -> extent `dim` times repeat_times.
bool repeat(InferContext& op);
/// (x..) -> extents agree except in `dim`, whose extents are added.
bool concat(InferContext& op);
/// Nothing -> `shape` with real elements of type `dtype` on the op's device; `dim` in range.
bool iota(InferContext& op);
/// state [2] Int64 -> Float32 with the extents of `shape`, like state.
bool random_uniform(InferContext& op);
/// (x..) of one shape -> a new extent, the number of operands, at `dim` in [-(rank+1), rank].
bool stack(InferContext& op);
/// x -> the last dimensions grown by before + after of `pad`.
bool pad(InferContext& op);
/// x [N, C, ..] -> the last dimensions are `size`, or truncated extent * scale_factor.
bool interpolate(InferContext& op);

// -- reductions and indices -----------------------------------------------------------------------
/// x -> without `dim`, or with extent 1 there if keep_dim. `dim` all or 2147483647: [1], or all
/// ones.
bool reduce(InferContext& op);
/// As reduce; a run refuses to reduce no elements.
bool extremum(InferContext& op);
/// x -> like x; `dim` in range.
bool cum_sum(InferContext& op);
/// x -> two of x's shape with `k` at `dim`; the second Int32.
bool top_k(InferContext& op);
/// x -> x's shape, Int32.
bool argsort(InferContext& op);
/// (x, indices of x's rank, source like indices) -> like x; in other dimensions than `dim` there
/// are no more indices than elements.
bool scatter(InferContext& op);
/// (x..) -> the indices of `equation` after its arrow; extents of one index agree or are 1.
bool einsum(InferContext& op);
/// (table, indices) -> table's extents with the one at `dim` replaced by those of indices (Int32,
/// Int64, Float32).
bool gather(InferContext& op);
/// (x, mask [n]: truth values) -> x with an extent at `dim`, there n, that only data decides.
bool compress(InferContext& op);

// -- generic --------------------------------------------------------------------------------------
/// (x..) -> extents that the maps of `maps` reach over `loops`, element types by `dtypes`.
bool generic(InferContext& op);
/// One block of elementwise ops on single numbers, from one number of each operand to one for each
/// result.
bool verify_generic(VerifyContext& op);

// -- loops ----------------------------------------------------------------------------------------
/// Buffers of the region are those of operands and results; index maps, races and elements that
/// nothing wrote, as far as the text decides them.
bool verify_kernel(VerifyContext& op);
/// Loops, relations and the symbols that they have.
bool verify_nest(VerifyContext& op);
/// A buffer of numbers.
bool verify_buffer(VerifyContext& op);
/// (buffer, indices..) -> one element of it, or the number that the element is.
bool verify_read(VerifyContext& op);
/// (number, buffer, indices..) -> nothing.
bool verify_write(VerifyContext& op);

// -- convolutions and signals ---------------------------------------------------------------------
/// x [B, in, T] -> [B, out, floor((T + 2 pad - dilation (kernel - 1) - 1) / stride) + 1].
bool conv_1d(InferContext& op);
/// x [B, in, H, W], per dimension as conv_1d; impl_type QNN_LPBQ_*: [B, H, W, in], UInt16PerTensor.
bool conv_2d(InferContext& op);
/// x [B, in, D, H, W], per dimension as conv_1d without padding and dilation.
bool conv_3d(InferContext& op);
/// (signal [T] or [B, T], window [.., win_length]) -> [B, n_fft / 2 + 1, frames, 2], or without the
/// last dimension and complex; frames = 1 + floor((T' - win_length) / hop_length), T' = T or, if
/// center, T + 2 floor(n_fft / 2).
bool stft(InferContext& op);
/// (spec [B, F, N, 2] or complex [B, F, N], window) -> [B, (N - 1) hop_length + n_fft], less
/// 2 floor(n_fft / 2) if center, less 2 floor((win_length - hop_length) / 2) if pad_mode is same.
bool istft(InferContext& op);

}  // namespace mir::rules

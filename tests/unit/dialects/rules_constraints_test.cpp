// Which constraint a refusal names.
#include <regex>
#include <set>

#include "../project_files.hpp"
#include "infer.hpp"

using mir::testing::Case;

namespace {

/// The constraints that rules name.
std::set<std::string> named_by_rules() {
  const std::regex id("\"([a-z0-9_]+_c[0-9]+)\"");
  std::set<std::string> ids;
  for (const auto& file : std::filesystem::directory_iterator(mir::test::kRoot / "src/dialects")) {
    const std::string text = mir::test::read_whole(file.path());
    for (std::sregex_iterator at(text.begin(), text.end(), id), end; at != end; ++at) {
      ids.insert((*at)[1]);
    }
  }
  return ids;
}

}  // namespace

TEST_CASE("a refusal names the constraint that is broken, and each constraint refuses something") {
  std::set<std::string> missing = named_by_rules();
  REQUIRE(missing.size() > 50);
  const std::string q = "[1, 4, 8, 64]", kv = "[1, 4, 2, 64]", rows = "Int32 [9]";
  const Case cases[] = {
      {"ArgsortOp", "dim:2", {"[2, 3]"}, "argsort_c1"},
      {"AddOp", "", {"Bool [2]", "Bool [2]"}, "binary_c1"},
      {"AddOp", "", {"Int32 [2]", "[2]"}, "binary_c2"},
      {"AddOp", "", {"[2]", "[3]"}, "binary_c3"},
      {"DivOp", "", {"[0]", "[2]"}, "binary_c3"},
      {"CausalMaskOp", "", {"[4]"}, "causal_mask_c1"},
      {"CausalMaskOp", "sliding_window:true", {"[4, 4]"}, "causal_mask_c2"},
      {"CausalMaskOp", "", {"[4, 3]"}, "causal_mask_c3"},
      {"ConcatOp", "dim:1", {"[2]", "[2]"}, "concat_c1"},
      {"ConcatOp", "dim:0", {"[2]", "[2, 4]"}, "concat_c2"},
      {"ConcatOp", "dim:0", {"[2, 3]", "[2, 4]"}, "concat_c2"},
      {"CopyOp", "", {"Int8 [6]", "[2, 3]"}, "copy_c1"},
      {"CopyOp", "", {"[5]", "[2, 3]"}, "copy_c2"},
      {"EmbeddingOp", "hidden_size:64", {"[4]"}, "embedding_c1"},
      {"EmbeddingOp", "vocab_size:-1, hidden_size:64", {"Int64 [4]"}, "embedding_c2"},
      {"EqualOp", "", {"[2]", "[3]"}, "equal_c1"},
      {"EqualOp", "", {"Bool [2]", "[2]"}, "equal_c1"},
      {"FillOp", "type:noise", {"[2]"}, "fill_c1"},
      {"GatherOp", "dim:0", {"[4, 5]", "Int8 [2]"}, "gather_c1"},
      {"GatherOp", "dim:2", {"[4, 5]", "Int32 [2]"}, "gather_c2"},
      {"IndexOp", "indices:[all]", {"[4, 5]"}, "index_c1"},
      {"IndexOp", "indices:[[4]]", {"[4]"}, "index_c2"},
      {"IndexOp", "indices:[[-1]]", {"[4]"}, "index_c2"},
      {"IndexOp", "indices:[1]", {"[4]", "[2]"}, "index_c3"},
      {"IndexOp", "indices:[2]", {"[4]", "Int32 [2]"}, "index_c3"},
      {"KVCacheOp",
       "q_head:8, kv_head:2, head_dim:64",
       {"[1, 2, 5, 64]", "[1, 2, 6, 64]"},
       "kv_cache_c1",
       2},
      {"KVCacheOp",
       "q_head:0, kv_head:2, head_dim:64",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "kv_cache_c1",
       2},
      {"KVCacheOp",
       "q_head:8, kv_head:3, head_dim:64",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "kv_cache_c2",
       2},
      {"KVCacheOp",
       "q_head:8, kv_head:2, head_dim:32",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "kv_cache_c2",
       2},
      {"KVCacheOp",
       "q_head:7, kv_head:2, head_dim:64",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "kv_cache_c3",
       2},
      {"KVCacheOp",
       "q_head:8, kv_head:2, head_dim:64, past:4, capacity:8",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "kv_cache_c4",
       2},
      {"LayerNorm2DOp", "", {"[16, 8, 8]"}, "layer_norm_2d_c1"},
      {"LayerNorm2DOp", "num_channels:16", {"[1, 8, 8, 16]"}, "layer_norm_2d_c2"},
      {"LayerNormOp", "normalized_shape:[64]", {"Int8 [2, 64]"}, "layer_norm_c1"},
      {"LayerNormOp", "normalized_shape:[64], eps:-1", {"[2, 64]"}, "layer_norm_c2"},
      {"LayerNormOp", "normalized_shape:[63]", {"[2, 64]"}, "layer_norm_c3"},
      {"LinearOp", "in_channels:64, out_channels:128, bias:false", {"[1, 63]"}, "linear_c2"},
      {"MatMulOp", "transpose_b:true", {"[3]", "[2, 3]"}, "matmul_c1"},
      {"MatMulOp", "transpose_b:true", {"[2, 3]", "[1, 2, 3]"}, "matmul_c2"},
      {"MatMulOp", "transpose_b:false", {"[2, 3]", "Int32 [3, 4]"}, "matmul_c2"},
      {"MatMulOp", "transpose_b:true", {"[$H, 2, 3]", "[$G, 2, 3]"}, "matmul_c4"},
      {"PermuteOp", "axis:[0]", {"[2, 3]"}, "permute_c1"},
      {"PermuteOp", "axis:[0, 0]", {"[2, 3]"}, "permute_c2"},
      {"PermuteOp", "axis:[0, 2]", {"[2, 3]"}, "permute_c2"},
      {"ReduceSumOp", "dim:0", {"Bool [5]"}, "reduce_c1"},
      {"ReduceMinOp", "dim:1", {"[5]"}, "reduce_c2"},
      {"RepeatOp", "dim:1, repeat_times:2", {"[2]"}, "repeat_c1"},
      {"RepeatOp", "dim:0, repeat_times:-1", {"[2]"}, "repeat_c2"},
      {"RMSNormOp", "epsilon:1e-6", {"[]"}, "rms_norm_c1"},
      {"RMSNormOp", "epsilon:1e-6", {"Int32 [4]"}, "rms_norm_c1"},
      {"RMSNormOp", "epsilon:-1.0", {"[4]"}, "rms_norm_c2"},
      {"RMSNormOp", "epsilon:1e-6, elementwise_affine:true", {"[2, 64]", "[64]"}, "rms_norm_c3"},
      {"RMSNormOp", "epsilon:1e-6, elementwise_affine:false", {"[2, 64]", "[63]"}, "rms_norm_c3"},
      {"RoPEOp", "", {"[8, 4, 64]", "[4, 64]", "[4, 64]"}, "rope_c1"},
      {"RoPEOp", "input_type:SBHD", {"[1, 8, 4, 64]", "[4, 64]", "[4, 64]"}, "rope_c2"},
      {"RoPEOp", "", {"[1, 8, 4, 64]", "[64]", "[64]"}, "rope_c4"},
      {"RoPEOp", "", {"[1, 8, 4, 64]", "[1, 5, 64]", "[1, 4, 64]"}, "rope_c4"},
      {"SliceOp", "indices:all", {"[5]"}, "slice_c1"},
      {"SliceOp", "indices:[all]", {"[5, 5]"}, "slice_c1"},
      {"SliceOp", "indices:[1]", {"[5]"}, "slice_c2"},
      {"SliceOp", R"(indices:[{"begin":0}])", {"[5]"}, "slice_c2"},
      {"SliceOp", R"(indices:[{"start":-6}])", {"[5]"}, "slice_c3"},
      {"CopyOp", R"(indices:[{"end":5}, all])", {"[2, 3]", "[4, 3]"}, "slice_c3"},
      {"SoftmaxOp", "", {"Int32 [2]"}, "softmax_c1"},
      {"SoftmaxOp", "axis:2", {"[2, 3]"}, "softmax_c2"},
      {"SoftmaxOp", "axis:-3", {"[2, 3]"}, "softmax_c2"},
      {"SplitOp", "dim:1, split_size_or_sections:[1]", {"[5]"}, "split_c1", 5},
      {"SplitOp", "dim:0, split_size_or_sections:[2, 3]", {"[5]"}, "split_c2", 3},
      {"SplitOp", "dim:0, split_size_or_sections:[2]", {"[5]"}, "split_c3", 2},
      {"SplitOp", "dim:0, split_size_or_sections:[2, 2]", {"[5]"}, "split_c3", 2},
      {"StackOp", "dim:2", {"[3]", "[3]"}, "stack_c1"},
      {"StackOp", "dim:0", {"[3]", "[4]"}, "stack_c2"},
      {"TopKOp", "k:-1", {"[5]"}, "top_k_c1", 2},
      {"TopKOp", "k:6, dim:0", {"[5, 3]"}, "top_k_c1", 2},
      {"TransposeOp", "dim0:0, dim1:2", {"[2, 3]"}, "transpose_c1"},
      {"NegOp", "", {"Bool [2]"}, "unary_c1"},
      {"ExpOp", "", {"Int32 [2]"}, "unary_float_c1"},
      {"GELUOp", "", {"ComplexFP32 [2]"}, "unary_float_c1"},
      {"ViewOp", "to_shape:[-2, 2]", {"[4]"}, "view_c1"},
      {"ViewOp", "to_shape:[$T]", {"[$S]"}, "view_c2"},
      {"WhereOp", "", {"[2]", "[2]", "[2]"}, "where_c1"},
      {"WhereOp", "", {"Bool [3]", "[3]", "Int32 [3]"}, "where_c2"},
      {"WhereOp", "", {"Bool [3]", "[3]", "[2]"}, "where_c3"},
      {"MaskedScatterOp", "", {"[3]", "Int8 [2, 3]", "[3]"}, "where_c3"},
      {"MatMulOp", "transpose_b:false", {"[2, 3]", "[4, 3]"}, "matmul_c3"},
      {"LinearOp", "bias:false", {"[]"}, "linear_c1"},
      {"RoPEOp", "partial_dim:-2", {q, "[4, 64]", "[4, 64]"}, "rope_c3"},
      {"ConcatOp", "dim:0", {"[2]", "Int32 [2]"}, "concat_c3"},
      {"Conv1DOp", "kernel_size:1", {"[1, 2]"}, "conv_1d_c1"},
      {"Conv1DOp", "in_channels:3, kernel_size:1", {"[1, 2, 7]"}, "conv_1d_c2"},
      {"Conv1DOp", "groups:3, kernel_size:1", {"[1, 2, 7]"}, "conv_1d_c3"},
      {"Conv2DOp", "kernel_size:[1]", {"[1, 2, 7, 7]"}, "conv_1d_c4"},
      {"Conv3DOp", "kernel_size:[8, 1, 1]", {"[1, 2, 7, 7, 7]"}, "conv_1d_c5"},
      {"InterpolateOp", "size:[4], mode:bilinear", {"[1, 3, 5]"}, "interpolate_c1"},
      {"InterpolateOp", "size:[4], mode:cubic", {"[1, 3, 5]"}, "interpolate_c2"},
      {"InterpolateOp", "size:[-4]", {"[1, 3, 5]"}, "interpolate_c3"},
      {"PadOp", "pad:[1, 1], mode:mirror", {"[3]"}, "pad_c1"},
      {"PadOp", "pad:[1]", {"[3]"}, "pad_c2"},
      {"STFTOp", "n_fft:16", {"[1, 1, 64]", "[16]"}, "stft_c1"},
      {"STFTOp", "n_fft:2", {"[64]", "[2]"}, "stft_c2"},
      {"STFTOp", "n_fft:16", {"[64]", "[8]"}, "stft_c3"},
      {"STFTOp", "n_fft:16, pad_mode:wrap", {"[64]", "[16]"}, "stft_c4"},
      {"STFTOp", "n_fft:16", {"[8]", "[16]"}, "stft_c5"},
      {"ISTFTOp", "n_fft:16", {"[1, 9, 4]", "[16]"}, "istft_c1"},
      {"ISTFTOp", "n_fft:16", {"[1, 8, 4, 2]", "[16]"}, "istft_c2"},
      {"ISTFTOp", "n_fft:16, pad_mode:wrap", {"[1, 9, 4, 2]", "[16]"}, "istft_c3"},
      {"ISTFTOp", "n_fft:16, center:true, pad_mode:same", {"[1, 9, 1, 2]", "[16]"}, "istft_c4"},
      {"ISTFTOp", "n_fft:16, hop_length:17, pad_mode:same", {"[1, 9, 1, 2]", "[16]"}, "istft_c5"},
      {"FlashAttention2Op", "", {"[4, 8, 64]", kv, kv}, "flash_attention2_c1"},
      {"FlashAttention2Op", "", {q, kv, "[1, 5, 2, 64]"}, "flash_attention2_c2"},
      {"FlashAttention2Op", "q_head:4", {q, kv, kv}, "flash_attention2_c3"},
      {"FlashAttention2Op", "B:2", {q, kv, kv}, "flash_attention2_c3"},
      {"FlashAttention2Op", "q_head:4", {q, kv, kv}, "flash_attention2_c3"},
      {"FlashAttention2Op", "D:32", {q, kv, kv}, "flash_attention2_c3"},
      {"FlashAttention2Op", "kv_head:3", {q, kv, kv}, "flash_attention2_c3"},
      {"FlashAttention2SwaSinkOp", "B:2", {q, kv, kv}, "flash_attention2_c3"},
      {"FlashAttention2SwaSinkOp", "q_head:4", {q, kv, kv}, "flash_attention2_c3"},
      {"FlashAttention2SwaSinkOp", "D_QK:32", {q, kv, kv}, "flash_attention2_c3"},
      {"FlashAttention2SwaSinkOp", "kv_head:3", {q, kv, kv}, "flash_attention2_c3"},
      {"FlashAttention2SwaSinkOp", "D_V:32", {q, kv, kv}, "flash_attention2_c3"},
      {"PagedAttnOp", "", {q, kv, kv, rows, "[5, 9]"}, "paged_attention_c4"},
      {"PagedAttnOp", "", {q, kv, kv, rows, "[4, 10]"}, "paged_attention_c4"},
      {"PagedAttnOp", "", {q, kv, kv, rows, "[4, 9]"}, ""},
      {"FlashAttention2SwaSinkOp", "sliding_window:0", {q, kv, kv}, "swa_sink_attention_c1"},
      {"FlashAttention2SwaSinkOp", "s_aux_enable:true", {q, kv, kv}, "swa_sink_attention_c2"},
      {"FlashAttention2SwaSinkOp", "cur_seq_len:3", {q, kv, kv}, "swa_sink_attention_c3"},
      {"PagedAttnOp", "", {q, kv, kv, "[9]"}, "paged_attention_c1"},
      {"PagedAttnOp", "fuse_rope:true", {q, kv, kv, rows}, "paged_attention_c2"},
      {"PagedAttnOp", "head_repeat_times:2", {q, kv, kv, rows}, "paged_attention_c3"},
      {"PagedAttnOp", "", {q, kv, kv, rows, "[4, 8]"}, "paged_attention_c4"},
      {"PagedAttnOp", "need_attn_weights:true", {q, kv, kv, rows}, "paged_attention_c5"},
      {"RadixAttnRelaxOp", "", {q, "Int64 [9]", "Int64 [8]"}, "radix_attention_c1"},
      {"RadixAttnRelaxOp", "kv_head:3", {q, rows, rows, kv, kv}, "radix_attention_c2"},
      {"EinsumOp", "equation:i", {"Bool [2]"}, "einsum_c1"},
      {"EinsumOp", "equation:i", {"[2, 3]"}, "einsum_c2"},
      {"EinsumOp", "equation:ii", {"[2, 3]"}, "einsum_c3"},
      {"ScatterOp", "dim:0", {"[4]", "Int32 [2]", "Int8 [2]"}, "scatter_c1"},
      {"ScatterOp", "dim:0, reduce:sum", {"[4]", "Int32 [2]", "[2]"}, "scatter_c2"},
      {"ScatterOp", "dim:0", {"[4]", "[2]", "[2]"}, "scatter_c3"},
      {"ScatterOp", "dim:1", {"[4]", "Int32 [2]", "[2]"}, "scatter_c4"},
      {"ScatterOp", "dim:0", {"[4]", "Int32 [2]", "[3]"}, "scatter_c5"},
  };
  for (const Case& test : cases) {
    CAPTURE(test.op);
    CAPTURE(test.attributes);
    const auto answer = mir::testing::infer_line(mir::testing::line_of(test));
    CAPTURE(answer.error);
    CHECK(answer.constraint == test.expected);
    missing.erase(test.expected);
  }
  CHECK(missing == std::set<std::string>{});
}

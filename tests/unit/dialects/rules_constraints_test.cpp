// Which constraint a refusal names.
#include "infer.hpp"

using mir::testing::Case;

TEST_CASE("a refusal names the constraint that is broken") {
  const std::string q = "[1, 4, 8, 64]", kv = "[1, 4, 2, 64]", rows = "Int32 [9]";
  const Case cases[] = {
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
  }
}

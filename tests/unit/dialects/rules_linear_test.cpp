#include "infer.hpp"

using mir::testing::check_all;

TEST_CASE("matmul multiplies the last two dimensions over batches") {
  check_all({
      {"MatMulOp", "transpose_b:false", {"[2, 3]", "[3, 4]"}, "[2, 4]"},
      {"MatMulOp", "transpose_b:true", {"[2, 3]", "[4, 3]"}, "[2, 4]"},
      {"MatMulOp", "transpose_a:true, transpose_b:false", {"[3, 2]", "[3, 4]"}, "[2, 4]"},
      {"MatMulOp", "transpose_b:false", {"[5, 6, $S, 3]", "[3, 4]"}, "[5, 6, $S, 4]"},
      {"MatMulOp",
       "transpose_b:true",
       {"[1, 12, $S, 128]", "[1, 2, $past+$S, 128]"},
       "[1, 12, $S, $S+$past]"},
      {"MatMulOp", "transpose_b:false", {"[1, 12, $S, $T]", "[1, 1, $T, 64]"}, "[1, 12, $S, 64]"},
      {"MatMulOp", "transpose_b:false", {"[4*$G, 2, 3]", "[$G, 3, 5]"}, "[4*$G, 2, 5]"},
      {"MatMulOp", "transpose_b:false", {"[2, ?]", "[3, 4]"}, "[2, 4]"},
      {"MatMulOp", "transpose_b:false", {"[0, 3]", "[3, 0]"}, "[0, 0]"},
      {"MatMulOp", "", {"Float16 [2, 3]", "Float16 [3, 4]"}, "Float16 [2, 4]"},
  });
}

TEST_CASE("matmul refuses what does not fit") {
  check_all({
      {"MatMulOp",
       "transpose_b:false",
       {"[2, 3]", "[4, 3]"},
       "500 'MatMulOp' takes equal inner extents (transpose_a false, transpose_b false), found "
       "[2, 3] and [4, 3]"},  // matmul_c3
      {"MatMulOp", "transpose_b:true", {"[2, $S]", "[4, $T]"}, "500 'MatMulOp' takes equal inner"},
      {"MatMulOp",
       "transpose_b:true",
       {"[1, 12, 2, 3]", "[1, 5, 2, 3]"},
       "500 'MatMulOp' takes batch extents of operand 1 that equal or divide"},  // matmul_c4
      {"MatMulOp", "transpose_b:true", {"[1, 1, 2, 3]", "[1, 5, 2, 3]"}, "500 'MatMulOp' takes"},
      {"MatMulOp", "transpose_b:true", {"[$H, 2, 3]", "[$G, 2, 3]"}, "500 'MatMulOp' takes batch"},
      {"MatMulOp",
       "transpose_b:true",
       {"[2, 3]", "[1, 2, 3]"},
       "501 'MatMulOp' takes operand 1 of rank 2 or 2, found [1, 2, 3]"},  // matmul_c1
      {"MatMulOp",
       "transpose_b:true",
       {"[3]", "[2, 3]"},
       "501 'MatMulOp' takes operand 0 of rank 2 or more, found [3]"},  // matmul_c1
      {"MatMulOp", "transpose_b:true", {"[0, 2, 3]", "[0, 2, 3]"}, "[0, 2, 2]"},
      {"MatMulOp", "transpose_b:1", {"[2, 3]", "[3, 4]"}, "312 attribute 'transpose_b'"},
      {"MatMulOp",
       "transpose_b:false",
       {"[2, 3]", "Int32 [3, 4]"},
       "502 'MatMulOp' takes"},  // matmul_c2
  });
}

TEST_CASE("linear replaces the last extent") {
  check_all({
      {"LinearOp", "in_channels:64, out_channels:128, bias:false", {"[1, $S, 64]"}, "[1, $S, 128]"},
      {"LinearOp", "out_channels:128, bias:false", {"[64]"}, "[128]"},
      {"LinearOp", "bias:false", {"[2, 64]"}, "[2, ?]"},
      {"LinearOp", "in_channels:64, out_channels:128, bias:false", {"[2, ?]"}, "[2, 128]"},
      {"LinearOp",
       "in_channels:64, out_channels:128, bias:false",
       {"[1, 63]"},
       "500 'LinearOp' takes in_channels 64, found last extent 63 of operand 0"},  // linear_c2
      {"LinearOp",
       "in_channels:64, out_channels:128, bias:false",
       {"[]"},
       "501 'LinearOp' takes operand 0 of rank 1 or more, found []"},  // linear_c1
      {"LinearOp", "out_channels:128, bias:false", {"Int64 [64]"}, "502 'LinearOp' takes"},
      {"LinearOp", "out_channels:128, bias:false", {"[2, 64]", "[1, 2, 128]"}, "[1, 2, 128]"},
  });
}

TEST_CASE("the impl type of linear chooses the element type of the result") {
  check_all({
      {"LinearOp", "out_channels:8, impl_type:GGUF", {"Float16 [4]"}, "[8]"},
      {"LinearOp",
       "out_channels:8, impl_type:KaiLinear_fp16_fp16_fp16p_mxk_kxn",
       {"Float16 [4]"},
       "Float16 [8]"},
      {"LinearOp", "out_channels:8, impl_type:KaiLinear_f32_x", {"Float16 [4]"}, "[8]"},
      {"LinearOp",
       "out_channels:8, impl_type:QNN_LPBQ_w4a16o16_G32",
       {"[4]"},
       "UInt16PerTensor [8]"},
      {"LinearOp", "out_channels:8, impl_type:Whatever", {"Float16 [4]"}, "Float16 [8]"},
      {"LinearOp", "out_channels:8", {"Mystery [4]"}, "Mystery [8]"},
  });
}

TEST_CASE("embedding appends the hidden extent") {
  check_all({
      {"EmbeddingOp", "vocab_size:100, hidden_size:64", {"Int64 [1, $S]"}, "[1, $S, 64]"},
      {"EmbeddingOp", "hidden_size:64, dtype:Float16", {"Int32 [4]"}, "Float16 [4, 64]"},
      {"EmbeddingOp", "", {"Int64 [4]"}, "[4, ?]"},
      {"EmbeddingOp",
       "hidden_size:64",
       {"[4]"},
       "502 'EmbeddingOp' takes Int32 or Int64 as operand 0, found Float32"},  // embedding_c1
      {"EmbeddingOp",
       "vocab_size:-1, hidden_size:64",
       {"Int64 [4]"},
       "504 'vocab_size'"},  // embedding_c2
  });
}

TEST_CASE("norms keep the type of a floating operand") {
  check_all({
      {"RMSNormOp", "epsilon:1e-6", {"[1, $S, 64]"}, "[1, $S, 64]"},
      {"RMSNormOp",
       "epsilon:-1.0",
       {"[4]"},
       "504 'epsilon' of 'RMSNormOp' is -1.0"},                               // rms_norm_c2
      {"RMSNormOp", "epsilon:1e-6", {"[]"}, "501 'RMSNormOp' takes"},         // rms_norm_c1
      {"RMSNormOp", "epsilon:1e-6", {"Int32 [4]"}, "502 'RMSNormOp' takes"},  // rms_norm_c1
      {"RMSNormOp", "epsilon:1e-6, elementwise_affine:false", {"[2, 64]"}, "[2, 64]"},
      {"RMSNormOp", "epsilon:1e-6, elementwise_affine:false", {"[$N, 64]", "[64]"}, "[$N, 64]"},
      {"RMSNormOp",
       "epsilon:1e-6, elementwise_affine:false",
       {"[2, 64]", "[63]"},
       "500 'RMSNormOp' takes a weight of extents [64] as operand 1, found [63]"},  // rms_norm_c3
      {"RMSNormOp",
       "epsilon:1e-6, elementwise_affine:false",
       {"[2, 64]", "[1, 64]"},
       "501 'RMSNormOp' takes"},  // rms_norm_c3
      {"RMSNormOp",
       "epsilon:1e-6, elementwise_affine:false",
       {"[2, 64]", "Int32 [64]"},
       "502 'RMSNormOp' takes"},  // rms_norm_c3
      {"RMSNormOp",
       "epsilon:1e-6, elementwise_affine:true",
       {"[2, 64]", "[64]"},
       "504 'RMSNormOp' has its weight as operand 1"},  // rms_norm_c3
      {"RMSNormOp",
       "epsilon:1e-6",
       {"[2, 64]", "[64]"},
       "506 'RMSNormOp' has its weight as operand 1"},
      {"LayerNormOp", "normalized_shape:[4, 64]", {"[$N, 4, 64]"}, "[$N, 4, 64]"},
      {"LayerNormOp",
       "normalized_shape:[63]",
       {"[2, 64]"},
       "500 'LayerNormOp' takes normalized_shape [63] as trailing extents of operand 0, found "
       "[2, 64]"},  // layer_norm_c3
      {"LayerNormOp", "normalized_shape:[1, 2, 64]", {"[2, 64]"}, "500 'LayerNormOp' takes"},
      {"LayerNormOp", "normalized_shape:64", {"[2, 64]"}, "312 attribute 'normalized_shape'"},
      {"LayerNormOp", "normalized_shape:[64]", {"Int8 [2, 64]"}, "502"},           // layer_norm_c1
      {"LayerNormOp", "normalized_shape:[64], eps:-1", {"[2, 64]"}, "504 'eps'"},  // layer_norm_c2
      {"LayerNorm2DOp", "num_channels:16", {"[1, 16, 8, 8]"}, "[1, 16, 8, 8]"},
      {"LayerNorm2DOp", "", {"[16, 8, 8]"}, "501 'LayerNorm2DOp' takes"},  // layer_norm_2d_c1
      {"LayerNorm2DOp",
       "num_channels:16",
       {"[1, 8, 8, 16]"},
       "500 'LayerNorm2DOp' takes num_channels 16, found extent 8 in dimension 1 of operand "
       "0"},  // layer_norm_2d_c2
      {"SoftmaxOp", "axis:-1", {"[2, $S]"}, "[2, $S]"},
      {"SoftmaxOp", "", {"Int32 [2]"}, "502 'SoftmaxOp' takes"},              // softmax_c1
      {"SoftmaxOp", "axis:2", {"[2, 3]"}, "503 'axis' of 'SoftmaxOp' is 2"},  // softmax_c2
      {"SoftmaxOp", "axis:-3", {"[2, 3]"}, "503 'axis'"},
      {"SoftmaxOp", "axis:last", {"[2, 3]"}, "312 attribute 'axis'"},
  });
}

TEST_CASE("the causal mask needs as many keys as queries") {
  check_all({
      {"CausalMaskOp", "", {"[1, 8, $S, $past+$S]"}, "[1, 8, $S, $S+$past]"},
      {"CausalMaskOp", "", {"[4, 4]"}, "[4, 4]"},
      {"CausalMaskOp", "", {"[4]"}, "501 'CausalMaskOp' takes"},  // causal_mask_c1
      {"CausalMaskOp",
       "",
       {"[4, 3]"},
       "500 'CausalMaskOp' takes at least as many keys as queries, found [4, 3]"},  // causal_mask_c3
      {"CausalMaskOp", "", {"[$S+1, $S]"}, "500 'CausalMaskOp' takes"},
      {"CausalMaskOp", "sliding_window:true, window_size:4", {"[4, 4]"}, "[4, 4]"},
      {"CausalMaskOp",
       "sliding_window:true, window_size:0",
       {"[4, 4]"},
       "504 'window_size' of 'CausalMaskOp' is 0, expected 1 or more"},  // causal_mask_c2
      {"CausalMaskOp", "sliding_window:true", {"[4, 4]"}, "504 'window_size'"},
  });
}

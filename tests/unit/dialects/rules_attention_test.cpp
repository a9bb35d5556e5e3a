#include "infer.hpp"

using mir::testing::check_all;

TEST_CASE("rotary embeddings give the type of their first operand") {
  check_all({
      {"RoPEOp", "", {"[1, 8, $S, 64]", "[1, $S, 64]", "[1, $S, 64]"}, "[1, 8, $S, 64]"},
      {"RoPEOp",
       "input_type:BSHD",
       {"[2, $S, 8, 64]", "[2, $S, 64]", "[2, $S, 64]"},
       "[2, $S, 8, 64]"},
      {"RoPEOp", "", {"[2, 8, $S, 64]", "[1, $S, 32]", "[$S, 64]"}, "[2, 8, $S, 64]"},
      {"RoPEOp", "partial_dim:16", {"[1, 8, 4, 64]", "[1, 4, 8]", "[1, 4, 8]"}, "[1, 8, 4, 64]"},
      {"MultimodalRoPEOp", "type:2", {"[1, 8, $S, 64]", "[$S, 64]", "[$S, 64]"}, "[1, 8, $S, 64]"},
      {"VisionRoPEOp", "", {"[1, $N, 16, 80]", "[$N, 40]", "[$N, 40]"}, "[1, $N, 16, 80]"},
  });
}

TEST_CASE("rotary embeddings refuse tables and layouts that do not fit") {
  check_all({
      {"RoPEOp",
       "",
       {"[1, 8, 4, 64]", "[1, 5, 64]", "[1, 4, 64]"},
       "500 'RoPEOp' takes a table of length 4, found extent 5 in dimension 1 of operand 1"},  // rope_c4
      {"RoPEOp", "", {"[1, 8, 4, 64]", "[1, 4, 64]", "[1, 5, 64]"}, "500 'RoPEOp' takes a table"},
      {"RoPEOp",
       "",
       {"[3, 8, 4, 64]", "[2, 4, 64]", "[2, 4, 64]"},
       "500 'RoPEOp' takes tables for batch 3"},
      {"RoPEOp",
       "",
       {"[1, 8, 4, 64]", "[1, 4, 31]", "[1, 4, 32]"},
       "500 'RoPEOp' takes tables of at least 32 columns, found [1, 4, 31]"},  // rope_c4
      {"RoPEOp",
       "",
       {"[1, 8, 4, 63]", "[1, 4, 63]", "[1, 4, 63]"},
       "500 'RoPEOp' takes an even number of rotated elements up to 63, found 63"},  // rope_c3
      {"RoPEOp", "partial_dim:65", {"[1, 8, 4, 64]", "[4, 64]", "[4, 64]"}, "500 'RoPEOp' takes"},
      {"RoPEOp", "partial_dim:66", {"[1, 8, 4, 64]", "[4, 64]", "[4, 64]"}, "500 'RoPEOp' takes"},
      {"RoPEOp", "partial_dim:-2", {"[1, 8, 4, 64]", "[4, 64]", "[4, 64]"}, "504 'partial_dim'"},
      {"RoPEOp",
       "input_type:SBHD",
       {"[1, 8, 4, 64]", "[4, 64]", "[4, 64]"},
       "504 'input_type' of 'RoPEOp' is 'SBHD', expected BHSD, BSHD"},  // rope_c2
      {"RoPEOp",
       "",
       {"[8, 4, 64]", "[4, 64]", "[4, 64]"},
       "501 'RoPEOp' takes operand 0"},  // rope_c1
      {"RoPEOp",
       "",
       {"[1, 8, 4, 64]", "[64]", "[64]"},
       "501 'RoPEOp' takes operand 1 of rank 2 to 3, found [64]"},
      {"VisionRoPEOp", "", {"[1, 5, 16, 80]", "[6, 40]", "[6, 40]"}, "500 'VisionRoPEOp' takes"},
  });
}

TEST_CASE("the cache grows by the new tokens") {
  check_all({
      {"KVCacheOp",
       "q_head:8, kv_head:2, head_dim:64, past:$past",
       {"[1, 2, $S, 64]", "[1, 2, $S, 64]"},
       "[1, 2, $S+$past, 64]; [1, 2, $S+$past, 64]",
       2},
      {"KVCacheOp",
       "q_head:8, kv_head:2, head_dim:64, past:0",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "[1, 2, 5, 64]; [1, 2, 5, 64]",
       2},
      {"KVCacheOp",
       "q_head:8, kv_head:2, head_dim:64",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "[1, 2, ?, 64]; [1, 2, ?, 64]",
       2},
      {"KVCacheOp",
       "q_head:8, kv_head:2, head_dim:64, use_fa2:true, past:3",
       {"[1, 5, 2, 64]", "[1, 5, 2, 64]"},
       "[1, 8, 2, 64]; [1, 8, 2, 64]",
       2},
      {"KVCacheOp",
       "q_head:8, kv_head:2, head_dim:64, past:3, capacity:8",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "[1, 2, 8, 64]; [1, 2, 8, 64]",
       2},
  });
}

TEST_CASE("the cache refuses heads and lengths that do not fit") {
  check_all({
      {"KVCacheOp",
       "q_head:8, kv_head:3, head_dim:64",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "500 'KVCacheOp' takes kv_head 3, found extent 2 in dimension 1 of operand 0",
       2},  // kv_cache_c2
      {"KVCacheOp",
       "q_head:7, kv_head:2, head_dim:64",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "500 'KVCacheOp' takes q_head that is a multiple of kv_head, found 7 and 2",
       2},  // kv_cache_c3
      {"KVCacheOp",
       "q_head:8, kv_head:2, head_dim:32",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "500 'KVCacheOp' takes head_dim 32",
       2},
      {"KVCacheOp",
       "q_head:8, kv_head:2, head_dim:64",
       {"[1, 2, 5, 64]", "[1, 2, 6, 64]"},
       "500 'KVCacheOp' takes values of the keys' extents",
       2},  // kv_cache_c1
      {"KVCacheOp",
       "q_head:8, kv_head:2, head_dim:64, past:4, capacity:8",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "500 'KVCacheOp' takes at most 8 tokens, found 9",
       2},  // kv_cache_c4
      {"KVCacheOp",
       "q_head:8, kv_head:2, head_dim:64, past:many",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "312 attribute 'past'",
       2},
      {"KVCacheOp",
       "q_head:0, kv_head:2, head_dim:64",
       {"[1, 2, 5, 64]", "[1, 2, 5, 64]"},
       "504 'q_head'",
       2},
  });
}

TEST_CASE("fused attention gives the queries' shape") {
  check_all({
      {"FlashAttention2Op",
       "causal_mask:true",
       {"[1, $S, 8, 64]", "[1, $T, 2, 64]", "[1, $T, 2, 64]"},
       "[1, $S, 8, 64]"},
      {"FlashAttention2Op",
       "",
       {"[1, 4, 8, 64]", "[1, 4, 3, 64]", "[1, 4, 3, 64]"},
       "500 'FlashAttention2Op' takes query heads that are a multiple"},
      {"FlashAttention2Op",
       "",
       {"[1, 4, 8, 64]", "[1, 4, 2, 64]", "[1, 5, 2, 64]"},
       "500 'FlashAttention2Op' takes values"},
      {"FlashAttention2Op",
       "",
       {"[2, 4, 8, 64]", "[1, 4, 2, 64]", "[1, 4, 2, 64]"},
       "500 'FlashAttention2Op' takes batch 2"},
      {"FlashAttention2Op",
       "q_head:4",
       {"[1, 4, 8, 64]", "[1, 4, 2, 64]", "[1, 4, 2, 64]"},
       "500 'FlashAttention2Op' takes q_head 4"},
      {"FlashAttention2SwaSinkOp",
       "sliding_window:8, cur_seq_len:$L",
       {"[1, 4, 8, 64]", "[1, 9, 2, 64]", "[1, 9, 2, 48]"},
       "[1, 4, 8, 48]"},
      {"FlashAttention2SwaSinkOp",
       "sliding_window:8, cur_seq_len:8",
       {"[1, 4, 8, 64]", "[1, 9, 2, 64]", "[1, 9, 2, 48]"},
       "500 'FlashAttention2SwaSinkOp' takes keys of a sequence of 8, found 9"},
      {"FlashAttention2SwaSinkOp",
       "sliding_window:8, cur_seq_len:9",
       {"[1, 4, 8, 64]", "[1, 9, 2, 64]", "[1, 8, 2, 48]"},
       "500 'FlashAttention2SwaSinkOp' takes values"},
      {"FlashAttention2SwaSinkOp",
       "sliding_window:8, cur_seq_len:9, s_aux_enable:true",
       {"[1, 4, 8, 64]", "[1, 9, 2, 64]", "[1, 9, 2, 48]"},
       "500 'FlashAttention2SwaSinkOp' takes"},
      {"FlashAttention2SwaSinkOp",
       "sliding_window:8, cur_seq_len:9, s_aux_enable:true",
       {"[1, 4, 8, 64]", "[1, 9, 2, 64]", "[1, 9, 2, 48]", "[7]"},
       "500 'FlashAttention2SwaSinkOp' takes one sink logit per query head, 8"},
  });
}

TEST_CASE("paged attention gives weights only when asked") {
  const std::vector<std::string> operands = {"Float16 [1, 4, 8, 64]", "Float16 [1, 99, 2, 64]",
                                             "Float16 [1, 99, 2, 64]", "Int32 [$T]"};
  check_all({
      {"PagedAttnOp", "", operands, "[1, 4, 8, 64]"},
      {"PagedAttnOp", "impl_type:Default, need_attn_weights:true", operands,
       "Float16 [1, 4, 8, 64]; Float16 [1, 8, 4, $T]", 2},
      {"PagedAttnOp", "head_repeat_times:4", operands, "[1, 4, 8, 64]"},
      {"PagedAttnOp", "head_repeat_times:2", operands, "500 'PagedAttnOp' takes key and value"},
      {"PagedAttnOp", "need_attn_weights:true", operands, "507 'PagedAttnOp'"},
      {"PagedAttnOp",
       "",
       {"[1, 4, 8, 64]", "[1, 9, 2, 64]", "[1, 9, 2, 48]", "Int32 [5]"},
       "500 'PagedAttnOp' takes values"},
      {"PagedAttnOp",
       "",
       {"[1, 4, 8, 64]", "[1, 9, 2, 64]", "[1, 9, 2, 64]", "[5]"},
       "502 'PagedAttnOp' takes"},
      {"PagedAttnOp", "fuse_rope:true", operands, "504 'fuse_rope'"},
  });
}

TEST_CASE("radix attention takes addresses, or rows of stores") {
  const std::string extents = "q_head:8, kv_head:2, D_QK:64, D_V:48";
  const std::vector<std::string> addresses = {"[1, 4, 8, 64]", "Int64 [9]", "Int64 [9]"};
  const auto with = [](std::vector<std::string> operands, std::vector<std::string> more) {
    operands.insert(operands.end(), more.begin(), more.end());
    return operands;
  };
  const auto stores = with(addresses, {"[$T, 1, 2, 64]", "[77, 1, 2, 48]"});
  const std::string swa = extents + ", sliding_window:3, cur_seq_len:9, s_aux_enable:true";
  check_all({
      {"RadixAttnRelaxOp", extents.c_str(), addresses, "[1, 4, 8, 48]"},
      {"RadixAttnRelaxOp", extents.c_str(), stores, "[1, 4, 8, 48]"},
      {"RadixAttnSwaSinkOp", swa.c_str(), with(addresses, {"[8]"}), "[1, 4, 8, 48]"},
      {"RadixAttnSwaSinkOp", swa.c_str(), with(stores, {"[8]"}), "[1, 4, 8, 48]"},
      {"RadixAttnRelaxOp",
       extents.c_str(),
       {"[1, 4, 8, 64]", "Int64 [9]", "Int64 [8]"},
       "500 'RadixAttnRelaxOp' takes as many"},
      {"RadixAttnRelaxOp", "q_head:8, kv_head:2, D_QK:32, D_V:48", addresses,
       "500 'RadixAttnRelaxOp' takes D_QK 32"},
      {"RadixAttnRelaxOp", extents.c_str(), with(addresses, {"[5, 1, 3, 64]", "[5, 1, 2, 48]"}),
       "500 'RadixAttnRelaxOp' takes kv_head 2, found extent 3 in dimension 2 of operand 3"},
      {"RadixAttnRelaxOp", extents.c_str(), with(addresses, {"[5, 1, 2, 64]", "[5, 2, 2, 48]"}),
       "500 'RadixAttnRelaxOp' takes batch 1"},
      {"RadixAttnRelaxOp", "q_head:8, kv_head:3, D_QK:64, D_V:48",
       with(addresses, {"[5, 1, 3, 64]", "[5, 1, 3, 48]"}),
       "500 'RadixAttnRelaxOp' takes query heads that are a multiple"},
      {"RadixAttnSwaSinkOp", swa.c_str(), addresses, "500 'RadixAttnSwaSinkOp' takes operand 3"},
      {"RadixAttnSwaSinkOp", swa.c_str(), stores, "500 'RadixAttnSwaSinkOp' takes operand 5"},
  });
}

// linalg rows: rotary embeddings, the key-value cache, fused attention.
#pragma once

#include "dialects/parameters.hpp"
#include "dialects/rules.hpp"
#include "dialects/work_rules.hpp"
#include "ir/context/language_versions.hpp"
#include "mir/context.hpp"

namespace mir::dialect_tables {

inline constexpr std::string_view kRopeLayouts[] = {"BHSD", "BSHD"};
inline constexpr AttrRow kRopeAttributes[] = {
    {.name = "input_type",
     .type = AttrType::kString,
     .default_text = "BHSD",
     .summary = "order of dimensions",
     .choices = kRopeLayouts},
    {.name = "partial_dim",
     .type = AttrType::kInt,
     .default_text = "-1",
     .summary = "leading elements of a head that rotate; -1: all"},
    {.name = "rope_theta",
     .type = AttrType::kFloat,
     .default_text = "10000",
     .summary = "base of the tables; informative"},
    {.name = "max_position_embeddings",
     .type = AttrType::kInt,
     .default_text = "16384",
     .summary = "longest sequence the model knows; informative"},
};
inline constexpr AttrRow kMultimodalRopeAttributes[] = {
    {.name = "input_type",
     .type = AttrType::kString,
     .default_text = "BHSD",
     .summary = "order of dimensions",
     .choices = kRopeLayouts},
    {.name = "type",
     .type = AttrType::kInt,
     .default_text = "1",
     .summary = "2 for Qwen2-VL; informative"},
    {.name = "qwen2vl_options",
     .type = AttrType::kDict,
     .summary = "rope_theta, max_position_embeddings, mrope_section of the tables; informative"},
};
inline constexpr AttrRow kVisionRopeAttributes[] = {
    {.name = "type",
     .type = AttrType::kInt,
     .default_text = "1",
     .summary = "1 for Qwen2-VL; informative"},
    {.name = "qwen2vl_rope_op_options",
     .type = AttrType::kDict,
     .summary = "dims, spatial_merge_size, theta of the tables; informative"},
};

inline constexpr OpRow kRopeRows[] = {
    {.name = "RoPEOp",
     .type_name = "RoPE",
     .operands = exactly(3),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kSameShape,
     .attributes = kRopeAttributes,
     .infer = rules::rope,
     .page = "rope",
     .summary = "Rotates pairs of elements by the angles of sine and cosine tables.",
     .example = "linalg.CPU.RoPEOp [input_type:BHSD] (%0:tensor<[1, 8, $S, 64], Float32, CPU>, "
                "%1:tensor<[1, $S, 64], Float32, CPU>, %2:tensor<[1, $S, 64], Float32, CPU>) -> "
                "(%3:tensor<[1, 8, $S, 64], Float32, CPU>)"},
    {.name = "MultimodalRoPEOp",
     .type_name = "MultimodalRoPE",
     .operands = exactly(3),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kSameShape,
     .attributes = kMultimodalRopeAttributes,
     .infer = rules::multimodal_rope,
     .page = "rope",
     .summary = "As RoPE, with tables that mix time, height and width and serve the whole batch.",
     .example = "linalg.CPU.MultimodalRoPEOp [type:2] (%0:tensor<[1, 8, $S, 64], Float32, CPU>, "
                "%1:tensor<[$S, 64], Float32, CPU>, %2:tensor<[$S, 64], Float32, CPU>) -> "
                "(%3:tensor<[1, 8, $S, 64], Float32, CPU>)"},
    // Upstream makes this op with the type of SiLU: an op_type SiLU with three operands is it.
    {.name = "VisionRoPEOp",
     .type_name = "SiLU",
     .operands = exactly(3),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kSameShape,
     .attributes = kVisionRopeAttributes,
     .infer = rules::vision_rope,
     .page = "rope",
     .summary = "As RoPE on [B, S, H, D], with tables of rows and columns of patches.",
     .example = "linalg.CPU.VisionRoPEOp [type:1] (%0:tensor<[1, $N, 4, 80], Float32, CPU>, "
                "%1:tensor<[$N, 40], Float32, CPU>, %2:tensor<[$N, 40], Float32, CPU>) -> "
                "(%3:tensor<[1, $N, 4, 80], Float32, CPU>)"},
};

inline constexpr AttrRow kKvCacheAttributes[] = {
    {.name = "q_head", .type = AttrType::kInt, .required = true, .summary = "query heads"},
    {.name = "kv_head", .type = AttrType::kInt, .required = true, .summary = "key and value heads"},
    {.name = "head_dim", .type = AttrType::kInt, .required = true, .summary = "extent of a head"},
    {.name = "cache",
     .type = AttrType::kSymbolRef,
     .summary = "the state it appends to; without it the op's name names the state"},
    {.name = "layer_idx",
     .type = AttrType::kInt,
     .default_text = "0",
     .summary = "number of the layer, 0 in every dump; informative"},
    {.name = "use_fa2",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "operands and results are [B, S, H, D]"},
    {.name = "capacity", .type = AttrType::kInt, .summary = "most tokens the cache may hold"},
    {.name = "past",
     .type = AttrType::kDim,
     .default_text = "?",
     .summary = "tokens in the cache before this step"},
};
inline constexpr AttrRow kFlashAttention2Attributes[] = {
    {.name = "causal_mask",
     .type = AttrType::kBool,
     .default_text = "true",
     .summary = "a query sees no later key"},
    {.name = "B", .type = AttrType::kInt, .summary = "batch"},
    {.name = "q_head", .type = AttrType::kInt, .summary = "query heads"},
    {.name = "kv_head", .type = AttrType::kInt, .summary = "key and value heads"},
    {.name = "D", .type = AttrType::kInt, .summary = "extent of a head"},
    {.name = "hp_exp",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "precision that upstream asked for; without meaning"},
};
inline constexpr AttrRow kSwaSinkAttributes[] = {
    {.name = "sliding_window",
     .type = AttrType::kInt,
     .required = true,
     .summary = "keys that a query sees"},
    {.name = "cur_seq_len",
     .type = AttrType::kDim,
     .required = true,
     .summary = "length of the whole sequence, of which the keys are the end"},
    {.name = "s_aux_enable",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "operand 3 holds one sink logit per query head"},
    {.name = "B", .type = AttrType::kInt, .summary = "batch"},
    {.name = "q_head", .type = AttrType::kInt, .summary = "query heads"},
    {.name = "kv_head", .type = AttrType::kInt, .summary = "key and value heads"},
    {.name = "D_QK", .type = AttrType::kInt, .summary = "extent of a query and key head"},
    {.name = "D_V", .type = AttrType::kInt, .summary = "extent of a value head"},
};
inline constexpr std::string_view kPagedAttnTypes[] = {"Default", "AllFp32"};
inline constexpr AttrRow kPagedAttnAttributes[] = {
    {.name = "head_repeat_times",
     .type = AttrType::kInt,
     .summary = "query heads that share a key and value head"},
    {.name = "need_attn_weights",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "gives the weights as result 1"},
    {.name = "high_precision_exp",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "precision that upstream asked for; without meaning"},
    {.name = "fuse_rope",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "must be false"},
    {.name = "impl_type",
     .type = AttrType::kString,
     .default_text = "AllFp32",
     .summary = "AllFp32: the result is Float32; Default: it has the query's element type",
     .choices = kPagedAttnTypes},
};
inline constexpr AttrRow kRadixAttnAttributes[] = {
    {.name = "B", .type = AttrType::kInt, .summary = "batch"},
    {.name = "q_head", .type = AttrType::kInt, .required = true, .summary = "query heads"},
    {.name = "kv_head", .type = AttrType::kInt, .required = true, .summary = "key and value heads"},
    {.name = "D_QK",
     .type = AttrType::kInt,
     .required = true,
     .summary = "extent of a query and key head"},
    {.name = "D_V", .type = AttrType::kInt, .required = true, .summary = "extent of a value head"},
};
inline constexpr AttrRow kRadixSwaAttributes[] = {
    {.name = "sliding_window",
     .type = AttrType::kInt,
     .required = true,
     .summary = "keys that a query sees"},
    {.name = "cur_seq_len",
     .type = AttrType::kDim,
     .required = true,
     .summary = "length of the whole sequence"},
    {.name = "s_aux_enable",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "the last operand holds one sink logit per query head"},
    {.name = "pattern",
     .type = AttrType::kString,
     .default_text = "decode",
     .summary = "prefill, decode or append; without meaning"},
    {.name = "B", .type = AttrType::kInt, .summary = "batch"},
    {.name = "q_head", .type = AttrType::kInt, .required = true, .summary = "query heads"},
    {.name = "kv_head", .type = AttrType::kInt, .required = true, .summary = "key and value heads"},
    {.name = "D_QK",
     .type = AttrType::kInt,
     .required = true,
     .summary = "extent of a query and key head"},
    {.name = "D_V", .type = AttrType::kInt, .required = true, .summary = "extent of a value head"},
};

inline constexpr OpRow kAttentionRows[] = {
    {.name = "KVCacheOp",
     .type_name = "KVCache",
     .operands = between(2, 3),
     .results = exactly(2),
     .traits = Trait::kMoves,
     .effects = Effect::kReadsState | Effect::kWritesState,
     .resource = cache_of,
     .attributes = kKvCacheAttributes,
     .infer = rules::kv_cache,
     .added_operands = {.first = 2, .version = kPositionsVersion},
     .work = works::tokens_appended,
     .page = "cache",
     .summary = "Appends keys and values to the named cache and gives all it holds.",
     .example = "linalg.CPU.KVCacheOp <name=\"model.layers.0.self_attn.kv_cache\"> "
                "[cache:@cache.layers.0, q_head:8, kv_head:2, head_dim:64, past:$past] "
                "(%0:tensor<[1, 2, $S, 64], Float32, CPU>, "
                "%1:tensor<[1, 2, $S, 64], Float32, CPU>) -> "
                "(%2:tensor<[1, 2, $past+$S, 64], Float32, CPU>, "
                "%3:tensor<[1, 2, $past+$S, 64], Float32, CPU>)"},
    {.name = "FlashAttention2Op",
     .type_name = "FlashAttention2",
     .operands = between(3, 4),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kSameShape,
     .attributes = kFlashAttention2Attributes,
     .infer = rules::flash_attention2,
     .added_operands = {.first = 3, .version = kPositionsVersion},
     .work = works::flash_attention,
     .page = "attention",
     .summary = "Attention of queries, keys and values in [B, S, H, D] in one op.",
     .example = "linalg.CPU.FlashAttention2Op [causal_mask:true] "
                "(%0:tensor<[1, $S, 8, 64], Float32, CPU>, "
                "%1:tensor<[1, $past+$S, 2, 64], Float32, CPU>, "
                "%2:tensor<[1, $past+$S, 2, 64], Float32, CPU>) -> "
                "(%3:tensor<[1, $S, 8, 64], Float32, CPU>)"},
    // Upstream makes this op with the type of FlashAttention2.
    {.name = "FlashAttention2SwaSinkOp",
     .type_name = "FlashAttention2",
     .operands = between(3, 4),
     .results = exactly(1),
     .traits = Trait::kPure,
     .attributes = kSwaSinkAttributes,
     .infer = rules::swa_sink_attention,
     .work = works::swa_sink_attention,
     .page = "attention",
     .summary = "Attention within a sliding window, with an optional sink logit per head.",
     .example = "linalg.CPU.FlashAttention2SwaSinkOp "
                "[sliding_window:128, cur_seq_len:32, s_aux_enable:true] "
                "(%0:tensor<[1, 4, 8, 64], Float32, CPU>, %1:tensor<[1, 32, 2, 64], Float32, CPU>, "
                "%2:tensor<[1, 32, 2, 48], Float32, CPU>, %3:tensor<[8], Float32, CPU>) -> "
                "(%4:tensor<[1, 4, 8, 48], Float32, CPU>)"},
    {.name = "PagedAttnOp",
     .type_name = "PagedAttn",
     .operands = between(4, 5),
     .results = between(1, 2),
     .traits = Trait::kPure | Trait::kMayRefuse,
     .attributes = kPagedAttnAttributes,
     .infer = rules::paged_attention,
     .work = works::paged_attention,
     .page = "attention",
     .summary = "Attention over the rows of a key and value store that an index names.",
     .example =
         "linalg.CPU.PagedAttnOp [need_attn_weights:true] "
         "(%0:tensor<[1, 4, 8, 64], Float32, CPU>, %1:tensor<[1, 256, 2, 64], Float32, CPU>, "
         "%2:tensor<[1, 256, 2, 64], Float32, CPU>, %3:tensor<[32], Int32, CPU>) -> "
         "(%4:tensor<[1, 4, 8, 64], Float32, CPU>, %5:tensor<[1, 8, 4, 32], Float32, CPU>)"},
    // With three or four operands, operands 1 and 2 are machine addresses, as upstream has it.
    {.name = "RadixAttnRelaxOp",
     .type_name = "RadixAttnRelax",
     .operands = between(3, 5),
     .results = exactly(1),
     .effects = Effect::kReadsState,
     .attributes = kRadixAttnAttributes,
     .infer = rules::radix_attention,
     .work = works::radix_attention,
     .page = "attention",
     .summary = "Causal attention over rows of key and value stores, or over machine addresses.",
     .example = "linalg.CPU.RadixAttnRelaxOp [q_head:8, kv_head:2, D_QK:64, D_V:48] "
                "(%0:tensor<[1, 4, 8, 64], Float32, CPU>, %1:tensor<[32], Int32, CPU>, "
                "%2:tensor<[32], Int32, CPU>, %3:tensor<[256, 1, 2, 64], Float32, CPU>, "
                "%4:tensor<[256, 1, 2, 48], Float32, CPU>) -> "
                "(%5:tensor<[1, 4, 8, 48], Float32, CPU>)"},
    {.name = "RadixAttnSwaSinkOp",
     .type_name = "RadixAttnWithSinkAndSwaDiffDim",
     .operands = between(3, 6),
     .results = exactly(1),
     .effects = Effect::kReadsState,
     .attributes = kRadixSwaAttributes,
     .infer = rules::radix_attention,
     .work = works::radix_attention,
     .page = "attention",
     .summary = "As RadixAttnRelaxOp, within a sliding window and with a sink logit per head.",
     .example = "linalg.CPU.RadixAttnSwaSinkOp [sliding_window:128, cur_seq_len:32, "
                "s_aux_enable:true, pattern:decode, q_head:8, kv_head:2, D_QK:64, D_V:48] "
                "(%0:tensor<[1, 4, 8, 64], Float32, CPU>, %1:tensor<[32], Int32, CPU>, "
                "%2:tensor<[32], Int32, CPU>, %3:tensor<[256, 1, 2, 64], Float32, CPU>, "
                "%4:tensor<[256, 1, 2, 48], Float32, CPU>, %5:tensor<[8], Float32, CPU>) -> "
                "(%6:tensor<[1, 4, 8, 48], Float32, CPU>)"},
};

}  // namespace mir::dialect_tables

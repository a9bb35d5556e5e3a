#!/usr/bin/env python3
"""Configs of public models are imported at full size, without weights: their parameters add up to the published counts.

usage: public_models.py TOOLS
"""

import json
import math
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS = 1.0  # of one import; the machine of a test may be slower
SLOWER = 5
LLAMA3 = {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}


def config(architecture, hidden, layers, heads, kv_heads, ffn, vocab, theta, tied, **keys):
    return {"architectures": [architecture], "hidden_size": hidden, "num_hidden_layers": layers,
            "num_attention_heads": heads, "num_key_value_heads": kv_heads, "intermediate_size": ffn, "vocab_size": vocab,
            "rope_theta": theta, "tie_word_embeddings": tied, "bos_token_id": 1, "eos_token_id": [2, 3], "use_cache": True,
            "torch_dtype": "bfloat16", "transformers_version": "4.51.0", "initializer_range": 0.02, **keys}


LLAMA, QWEN2, QWEN3 = "LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"
MISTRAL, GEMMA2, GEMMA3 = "MistralForCausalLM", "Gemma2ForCausalLM", "Gemma3ForCausalLM"
PHI3, OLMO2 = "Phi3ForCausalLM", "Olmo2ForCausalLM"
GEMMA2_KEYS = {"sliding_window": 4096, "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0,
               "hidden_activation": "gelu_pytorch_tanh", "hidden_act": "gelu_pytorch_tanh", "attention_bias": False}
GEMMA3_KEYS = {"head_dim": 256, "rope_local_base_freq": 10000, "query_pre_attn_scalar": 256, "sliding_window_pattern": 6,
               "hidden_activation": "gelu_pytorch_tanh", "attn_logit_softcapping": None, "final_logit_softcapping": None}
BERT_BASE = {"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
             "intermediate_size": 3072, "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2,
             "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
             "initializer_range": 0.02, "layer_norm_eps": 1e-12, "pad_token_id": 0, "gradient_checkpointing": False,
             "position_embedding_type": "absolute", "transformers_version": "4.6.0.dev0", "use_cache": True}
VISION = {"depth": 32, "num_heads": 16, "in_chans": 3, "patch_size": 14, "spatial_merge_size": 2, "spatial_patch_size": 14,
          "temporal_patch_size": 2}
VISION_IDS = {"vision_start_token_id": 151652, "vision_end_token_id": 151653, "vision_token_id": 151654,
              "image_token_id": 151655, "video_token_id": 151656, "use_sliding_window": False, "attention_dropout": 0.0,
              "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}, "rms_norm_eps": 1e-6}
MODELS = {
    "Llama-2-7B": (6738415616, config(LLAMA, 4096, 32, 32, 32, 11008, 32000, 1e4, False, rms_norm_eps=1e-5,
                                      max_position_embeddings=4096, hidden_act="silu", pretraining_tp=1)),
    "Llama-3.1-8B": (8030261248, config(LLAMA, 4096, 32, 32, 8, 14336, 128256, 5e5, False, rms_norm_eps=1e-5,
                                        rope_scaling={**LLAMA3, "factor": 8.0}, attention_bias=False, mlp_bias=False)),
    "Llama-3.2-1B": (1235814400, config(LLAMA, 2048, 16, 32, 8, 8192, 128256, 5e5, True, head_dim=64,
                                        rope_scaling={**LLAMA3, "factor": 32.0})),
    "SmolLM2-135M": (134515008, config(LLAMA, 576, 30, 9, 3, 1536, 49152, 1e5, True, rms_norm_eps=1e-5,
                                       is_llama_config=True, rope_interleaved=False, rope_scaling=None)),
    "Mistral-7B-v0.1": (7241732096, config(MISTRAL, 4096, 32, 32, 8, 14336, 32000, 1e4, False, sliding_window=4096)),
    "Mistral-Nemo-12B": (12247782400, config(MISTRAL, 5120, 40, 32, 8, 14336, 131072, 1e6, False, head_dim=128,
                                             sliding_window=None)),
    "Qwen2.5-0.5B": (494032768, config(QWEN2, 896, 24, 14, 2, 4864, 151936, 1e6, True, use_sliding_window=False,
                                       sliding_window=32768, max_window_layers=21)),
    "Qwen2.5-7B": (7615616512, config(QWEN2, 3584, 28, 28, 4, 18944, 152064, 1e6, False, use_sliding_window=False,
                                      sliding_window=131072, max_window_layers=28)),
    "Qwen3-0.6B": (596049920, config(QWEN3, 1024, 28, 16, 8, 3072, 151936, 1e6, True, head_dim=128,
                                     use_sliding_window=False, sliding_window=None, max_window_layers=28)),
    "Qwen3-8B": (8190735360, config(QWEN3, 4096, 36, 32, 8, 12288, 151936, 1e6, False, head_dim=128)),
    "Qwen3-30B-A3B": (30532122624, config("Qwen3MoeForCausalLM", 2048, 48, 32, 4, 6144, 151936, 1e6, False, head_dim=128,
                                          num_experts=128, num_experts_per_tok=8, moe_intermediate_size=768,
                                          norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[],
                                          output_router_logits=False, router_aux_loss_coef=0.001)),
    "Mixtral-8x7B": (46702792704, config("MixtralForCausalLM", 4096, 32, 32, 8, 14336, 32000, 1e6, False,
                                         num_local_experts=8, num_experts_per_tok=2, sliding_window=None,
                                         output_router_logits=False, router_aux_loss_coef=0.02)),
    "Qwen1.5-MoE-A2.7B": (14315784192, config("Qwen2MoeForCausalLM", 2048, 24, 16, 16, 5632, 151936, 1e6, False,
                                              num_experts=60, num_experts_per_tok=4, moe_intermediate_size=1408,
                                              shared_expert_intermediate_size=5632, norm_topk_prob=False,
                                              decoder_sparse_step=1, use_sliding_window=False, max_window_layers=21)),
    "Gemma-2-2B": (2614341888, config(GEMMA2, 2304, 26, 8, 4, 9216, 256000, 1e4, True, head_dim=256,
                                      query_pre_attn_scalar=256, **GEMMA2_KEYS)),
    "Gemma-2-27B": (27227128320, config(GEMMA2, 4608, 46, 32, 16, 36864, 256000, 1e4, True, head_dim=128,
                                        query_pre_attn_scalar=144, **GEMMA2_KEYS)),
    "Gemma-3-270M": (268098176, config(GEMMA3, 640, 18, 4, 1, 2048, 262144, 1e6, True, sliding_window=512, **GEMMA3_KEYS)),
    "Gemma-3-1B": (999885952, config(GEMMA3, 1152, 26, 4, 1, 6912, 262144, 1e6, True, sliding_window=512, **GEMMA3_KEYS)),
    "Gemma-3-4B": (3880263168, {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3",
                                "mm_tokens_per_image": 256, "vision_config": {"hidden_size": 1152},
                                "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34,
                                                "intermediate_size": 10240, "sliding_window": 1024,
                                                "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}}),
    "Phi-3-mini-4k": (3821079552, config(PHI3, 3072, 32, 32, 32, 8192, 32064, 1e4, False, sliding_window=2047,
                                         original_max_position_embeddings=4096, max_position_embeddings=4096,
                                         rope_scaling=None, embd_pdrop=0.0, resid_pdrop=0.0,
                                         auto_map={"AutoConfig": "configuration_phi3.Phi3Config"})),
    "Phi-4-mini": (3836021760, config(PHI3, 3072, 32, 24, 8, 8192, 200064, 1e4, True, partial_rotary_factor=0.75,
                                      original_max_position_embeddings=4096, max_position_embeddings=131072,
                                      rope_scaling={"type": "longrope", "short_factor": [1.0] * 48,
                                                    "long_factor": [1.5] * 48}, sliding_window=262144)),
    "SmolLM3-3B": (3075098624, config("SmolLM3ForCausalLM", 2048, 36, 16, 4, 11008, 128256, 5e6, True,
                                      no_rope_layers=[int((i + 1) % 4 != 0) for i in range(36)], no_rope_layer_interval=4,
                                      use_sliding_window=False, sliding_window=None,
                                      layer_types=["full_attention"] * 36)),
    "StarCoder2-3B": (3030371328, config("Starcoder2ForCausalLM", 3072, 30, 24, 2, 12288, 49152, 999999.4420358813, True,
                                         norm_epsilon=1e-5, use_bias=True, sliding_window=4096, mlp_type="default",
                                         hidden_act="gelu_pytorch_tanh", residual_dropout=0.1, embedding_dropout=0.1)),
    "MiniCPM-2B": (2724880896, config("MiniCPMForCausalLM", 2304, 40, 36, 36, 5760, 122753, 1e4, True, scale_emb=12,
                                      scale_depth=1.4, dim_model_base=256)),
    "BERT-base-uncased": (109482240, {**BERT_BASE, "architectures": ["BertModel"]}),
    # The head has a matrix of its own in a module, which the checkpoint ties to the embeddings.
    "BERT-base-uncased, masked": (109482240 + 30522 * 769 + 2 * 768,
                                  {**BERT_BASE, "architectures": ["BertForMaskedLM"]}),
    "Qwen2-VL-2B": (1543714304 + 665271296,
                    config("Qwen2VLForConditionalGeneration", 1536, 28, 12, 2, 8960, 151936, 1e6, True, **VISION_IDS,
                           sliding_window=32768, max_window_layers=28, max_position_embeddings=32768,
                           vision_config={**VISION, "embed_dim": 1280, "mlp_ratio": 4, "hidden_size": 1536})),
    "Qwen2.5-VL-3B": (3085938688 + 668684288,
                      config("Qwen2_5_VLForConditionalGeneration", 2048, 36, 16, 2, 11008, 151936, 1e6, True, **VISION_IDS,
                             sliding_window=32768, max_window_layers=70, max_position_embeddings=128000,
                             vision_config={**VISION, "hidden_act": "silu", "hidden_size": 1280, "intermediate_size": 3420,
                                            "out_hidden_size": 2048, "window_size": 112, "tokens_per_second": 2,
                                            "fullatt_block_indexes": [7, 15, 23, 31]})),
    "OLMo-2-1B": (1484916736, config(OLMO2, 2048, 16, 16, 16, 8192, 100352, 5e5, False)),
    "OLMo-2-7B": (7298617344, config(OLMO2, 4096, 32, 32, 32, 11008, 100352, 5e5, False)),
}


def imported(tools, folder):
    begin = time.monotonic()
    done = subprocess.run([tools / "mllm-import", folder, "-o", folder / "model.mir"], capture_output=True, text=True)
    return done.returncode, done.stderr, time.monotonic() - begin


def parameters(text):
    registers = re.findall(r"tensor\.CPU\.register \(\) -> \(%\S+:tensor<\[([\d, ]*)\]", text)
    return sum(math.prod(int(extent) for extent in extents.split(",")) for extents in registers)


def main(tools):
    failed = 0
    for name, (wanted, keys) in MODELS.items():
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            (folder / "config.json").write_text(json.dumps(keys))
            status, errors, seconds = imported(Path(tools).resolve(), folder)
            found = parameters((folder / "model.mir").read_text()) if status == 0 else 0
            is_good = status == 0 and found == wanted and "warning" not in errors and seconds < SECONDS * SLOWER
            print(f"{name}: {found} parameters, {seconds:.2f} s" + ("" if is_good else f", expected {wanted}\n{errors}"))
            failed += not is_good
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

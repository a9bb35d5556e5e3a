#!/usr/bin/env python3
"""Checkpoints with the rarer keys and spellings of configs compute what NumPy computes, or are refused by name.

usage: rare_keys.py TOOLS [CASE...]

A case changes a config of checkpoints.py, or what the folder has.
"""

import json
import sys
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import checkpoints
from families import TOLERANCE, compared, imports
from reference import Decoder

TOKENS, PROMPT = 9, 5
LLAMA3 = checkpoints.LLAMA3


def renamed(old, new):
    return lambda tensors: {name.replace(old, new, 1): tensor for name, tensor in tensors.items()}


def inside(prefix):
    """The names of a decoder in a model with other parts."""
    return lambda tensors: {**{prefix + name.removeprefix("model.") if name.startswith("model.") else name: tensor
                               for name, tensor in tensors.items()},
                            "model.vision_model.patch.weight": np.ones((4, 4), np.float32)}


def with_buffers(tensors):
    return {**tensors, "model.layers.0.self_attn.rotary_emb.inv_freq": np.ones(8, np.float32),
            "model.rotary_emb.inv_freq": np.ones(8, np.float32), "lm_head.weight": tensors.get("lm_head.weight", np.ones((128, 64), np.float32))}


# Case: (case of checkpoints.py, changes of the config that NumPy reads, keys in other spellings, tensors of the folder).
GOOD = {
    "kv-absent": ("llama", {"num_key_value_heads": "missing"}, {}, None),
    "kv-null": ("llama", {"num_key_value_heads": None}, {}, None),
    "one-kv-head": ("qwen2", {"num_key_value_heads": 1}, {}, None),
    "attention-bias": ("qwen3", {"attention_bias": True}, {}, None),
    "mlp-bias-smollm3": ("smollm3", {"mlp_bias": True, "attention_bias": True}, {}, None),
    "head-dim": ("llama", {"head_dim": 20}, {}, None),
    "head-dim-null": ("qwen2", {"head_dim": None}, {}, None),
    "head-dim-qwen2": ("qwen2", {"head_dim": 24}, {}, None),
    "head-dim-phi3": ("phi3", {"head_dim": 24}, {}, None),
    "head-dim-mixtral": ("mixtral", {"head_dim": 24}, {}, None),
    "head-dim-olmo2": ("olmo2", {"head_dim": 12}, {}, None),
    "tied-qwen3": ("qwen3", {"tie_word_embeddings": True}, {}, None),
    "tied-mixtral": ("mixtral", {"tie_word_embeddings": True}, {}, None),
    "tied-olmo2": ("olmo2", {"tie_word_embeddings": True}, {}, None),
    "untied-gemma2": ("gemma2", {"tie_word_embeddings": False}, {}, None),
    "untied-smollm3": ("smollm3", {"tie_word_embeddings": False}, {}, None),
    "untied-minicpm": ("minicpm", {"tie_word_embeddings": False}, {}, None),
    "linear-type": ("mistral", {}, {"rope_scaling": {"type": "linear", "factor": 2.0}}, None),
    "linear-both": ("qwen3", {}, {"rope_scaling": {"type": "linear", "rope_type": "linear", "factor": 2.0}}, None),
    "linear-smollm3": ("smollm3", {}, {"rope_scaling": {"rope_type": "linear", "factor": 2}}, None),
    "linear-mixtral": ("mixtral", {}, {"rope_scaling": {"rope_type": "linear", "factor": 2}}, None),
    "linear-olmo2": ("olmo2", {}, {"rope_scaling": {"rope_type": "linear", "factor": 2}}, None),
    "linear-moe": ("qwen3_moe", {}, {"rope_scaling": {"rope_type": "linear", "factor": 2}}, None),
    "linear-starcoder2": ("starcoder2", {}, {"rope_scaling": {"rope_type": "linear", "factor": 2}}, None),
    "linear-gemma2": ("gemma2", {}, {"rope_scaling": {"rope_type": "linear", "factor": 2}}, None),
    "linear-gemma3": ("gemma3", {}, {"rope_scaling": {"rope_type": "linear", "factor": 8.0}}, None),
    "yarn-llama": ("llama", {}, {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16,
                                                  "beta_fast": 32, "beta_slow": 1}}, None),
    "yarn-qwen3": ("qwen3", {}, {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}}, None),
    "yarn-factor": ("qwen2", {}, {"rope_scaling": {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 32,
                                                   "attention_factor": 1.5}}, None),
    "yarn-moe": ("qwen3_moe", {}, {"rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}}, None),
    "yarn-mscale": ("mistral", {}, {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16,
                                                     "mscale": 0.7, "mscale_all_dim": 1.2}}, None),
    "yarn-truncate": ("olmo2", {}, {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16,
                                                     "truncate": False}}, None),
    "yarn-gemma3": ("gemma3", {}, {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}}, None),
    "llama3-gemma2": ("gemma2", {}, {"rope_scaling": LLAMA3}, None),
    "yarn-starcoder2": ("starcoder2", {}, {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}}, None),
    "longrope-yarn": ("phi3", {"original_max_position_embeddings": 32, "max_position_embeddings": 64},
                      {"rope_scaling": {"type": "yarn", "short_factor": [1.0] * 8, "long_factor": [1.5 + i for i in range(8)]}}, None),
    "llama3-mistral": ("mistral", {}, {"rope_scaling": LLAMA3}, None),
    "default-type": ("llama", {}, {"rope_scaling": {"rope_type": "default"}}, None),
    "longrope-phi3": ("phi3", {"original_max_position_embeddings": 32, "max_position_embeddings": 64},
                      {"rope_scaling": {"type": "longrope", "short_factor": [1.0] * 8, "long_factor": [1.5 + i for i in range(8)]}}, None),
    "longrope-su": ("phi3", {"original_max_position_embeddings": 32, "max_position_embeddings": 64},
                    {"rope_scaling": {"type": "su", "short_factor": [1.0] * 8, "long_factor": [1.5 + i for i in range(8)]}}, None),
    "longrope-minicpm": ("minicpm", {"max_position_embeddings": 64},
                         {"rope_scaling": {"rope_type": "longrope", "original_max_position_embeddings": 32,
                                           "short_factor": [1.0] * 8, "long_factor": [1.5 + i for i in range(8)]}}, None),
    "partial-phi3": ("phi3", {"partial_rotary_factor": 0.5}, {}, None),
    "parameters-qwen3": ("qwen3", {}, {"rope_theta": "missing", "rope_parameters": {"rope_type": "linear", "rope_theta": 10000.0,
                                                                                    "factor": 2.0}}, None),
    "parameters-gemma3": ("gemma3", {}, {"rope_theta": "missing", "rope_local_base_freq": "missing", "rope_parameters": {
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}}, None),
    "window-null": ("mistral", {"sliding_window": None}, {}, None),
    "window-mixtral": ("mixtral", {"sliding_window": 4}, {}, None),
    "window-unused": ("qwen3", {"use_sliding_window": False, "sliding_window": 3, "max_window_layers": 0}, {}, None),
    "window-qwen3": ("qwen3", {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}, {}, None),
    "window-moe": ("qwen2_moe", {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 2}, {}, None),
    "layer-types": ("qwen2", {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1},
                    {"max_window_layers": 3, "layer_types": ["full_attention", "sliding_attention", "sliding_attention"]}, None),
    "layer-types-gemma3": ("gemma3", {"sliding_window_pattern": 2}, {
        "sliding_window_pattern": "missing", "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}, None),
    "pattern-gemma3": ("gemma3", {"sliding_window_pattern": 2}, {"sliding_window_pattern": "missing", "_sliding_window_pattern": 2}, None),
    "layer-types-gemma2": ("gemma2", {}, {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}, None),
    "layer-types-mistral": ("mistral", {}, {"layer_types": ["sliding_attention"] * 3}, None),
    "part-llava": ("llama", {}, "LlavaForConditionalGeneration", inside("language_model.model.")),
    "part-smolvlm": ("llama", {}, "Idefics3ForConditionalGeneration", inside("model.text_model.")),
    "part-mistral3": ("mistral", {}, "Mistral3ForConditionalGeneration", inside("model.language_model.")),
    "no-qkv-bias": ("qwen2_moe", {"qkv_bias": False}, {}, None),
    "longrope-minicpm4": ("minicpm", {"max_position_embeddings": 64, "tie_word_embeddings": False},
                          {"rope_scaling": {"rope_type": "longrope", "original_max_position_embeddings": 32,
                                            "short_factor": [1.0] * 8, "long_factor": [1.1 + i for i in range(8)]},
                           "mup_denominator": 32}, None),
    "gelu": ("llama", {"hidden_act": "gelu"}, {}, None),
    "gelu-tanh": ("qwen2", {"hidden_act": "gelu_pytorch_tanh"}, {}, None),
    "gelu-new": ("qwen2", {"hidden_act": "gelu_pytorch_tanh"}, {"hidden_act": "gelu_new"}, None),
    "gelu-mixtral": ("mixtral", {"hidden_act": "gelu"}, {}, None),
    "stale-act": ("gemma2", {}, {"hidden_act": "gelu"}, None),
    "silu": ("phi3", {}, {"hidden_act": "silu"}, None),
    "dtype": ("llama", {}, {"torch_dtype": "missing", "dtype": "float16"}, None),
    "attention-dropout": ("llama", {}, {"attention_dropout": 0.0, "pretraining_tp": 1, "auto_map": {"AutoModel": "a.B"},
                                        "rope_interleaved": False, "is_llama_config": True, "_name_or_path": "x"}, None),
    "buffers": ("llama", {}, {}, with_buffers),
    "stored-head-of-tied": ("llama-tied", {"head_dim": 24}, {}, with_buffers),
    "no-prefix": ("qwen2", {}, {}, renamed("model.", "")),
    "language-model": ("mistral", {}, {}, lambda tensors: {"language_model." + name: each for name, each in tensors.items()}),
    "inner-language-model": ("gemma3", {}, {}, renamed("model.", "model.language_model.")),
    "dense-layers": ("qwen3_moe", {"mlp_only_layers": [1]}, {}, None),
    "sparse-step": ("qwen3_moe", {"decoder_sparse_step": 2}, {}, None),
    "shares-unnormed": ("qwen3_moe", {"norm_topk_prob": False}, {}, None),
    "shares-normed": ("qwen2_moe", {"norm_topk_prob": True}, {}, None),
    "no-rope-layers": ("smollm3", {}, {"no_rope_layers": [1, 1, 1, 0, 1]}, None),
    "nope-interval": ("smollm3", {"no_rope_layer_interval": 2}, {}, None),
    "text-config": ("gemma3", {}, "text_config", None),
}
# Case: (changes of a Llama config, what the error names).
REFUSED = {
    "quantization": ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, "quantization_config"),
    "quantization-text": ({"quantization_config": {"quant_method": "awq"}, "sliding_window": None}, "quantization_config"),
    "act": ({"hidden_act": "swishy"}, "swishy"),
    "rope-type": ({"rope_scaling": {"rope_type": "spiral", "factor": 2.0}}, "spiral"),
    "softcap": ({"attn_logit_softcapping": 30.0}, "attn_logit_softcapping"),
    "bidirectional": ({"use_bidirectional_attention": True}, "use_bidirectional_attention"),
    "no-factor": ({"rope_scaling": {"type": "linear"}}, "'factor'"),
    "no-yarn-positions": ({"rope_scaling": {"type": "yarn", "factor": None}}, "'factor'"),
    "sparse": ({"sparse_config": {"kernel_size": 32}}, "sparse_config"),
    "latent": ({"kv_lora_rank": 8}, "kv_lora_rank"),
    "zero-layers": ({"num_hidden_layers": 0}, "num_hidden_layers"),
    "layer-types": ({"layer_types": ["linear_attention"] * 3}, "layer_types"),
}


def merged(config, changes):
    return {key: value for key, value in {**config, **changes}.items() if value != "missing"}


def check(tools, name, folder):
    if name in REFUSED:
        return check_refused(tools, name, folder)
    case, changes, spellings, stored = GOOD[name]
    reading = merged(checkpoints.CASES[case], changes)
    written = reading
    if spellings == "text_config":
        written = {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": reading,
                   "vision_config": {"hidden_size": 9}, "image_token_index": 7, "mm_tokens_per_image": 256}
    elif isinstance(spellings, str):
        written = {"architectures": [spellings], "text_config": reading, "vision_config": {"hidden_size": 9}}
    else:
        written = merged(reading, spellings)
        scaling = spellings.get("rope_scaling") or spellings.get("rope_parameters")
        if scaling:
            scaling = dict(scaling.get("full_attention", scaling))
            scaling.setdefault("rope_type", scaling.get("type"))
            reading = {**reading, "rope_scaling": {**scaling, "rope_type": scaling["rope_type"].replace("su", "longrope")}}
            if "long_factor" in scaling:
                reading["rope_scaling"]["rope_type"] = "longrope"
    tensors = checkpoints.random_tensors(reading, 1)
    ids = np.random.default_rng(3).integers(0, reading["vocab_size"], PROMPT)
    decoder = Decoder(reading, tensors)
    for _ in range(TOKENS - PROMPT):
        ids = np.append(ids, np.argmax(decoder.logits(ids)[-1]))
    wanted = decoder.logits(ids)
    weights = checkpoints.write_folder(folder / "model", written, stored(tensors) if stored else tensors)
    is_part = isinstance(spellings, str) and spellings != "text_config"
    imports(tools, folder / "model", folder / "model.mir", *(["--part=text"] if is_part else []))
    rows = [wanted[:PROMPT]] + [wanted[i:i + 1] for i in range(PROMPT, TOKENS)]
    compared(tools, folder / "model.mir", weights, ids[:PROMPT], rows, folder, "--kernels=fast")
    return "good"


def check_refused(tools, name, folder):
    changes, named = REFUSED[name]
    (folder / "config.json").write_text(json.dumps(merged(checkpoints.CASES["llama"], changes)))
    done = subprocess.run([tools / "mllm-import", folder], capture_output=True, text=True)
    first = next((line for line in done.stderr.splitlines() if "error[" in line), "")
    if done.returncode != 1 or named not in first or "config.json:1:1:" in first:
        raise AssertionError(f"expected an error that names {named}\n{done.stderr}")
    return "refused"


def main(tools, names):
    failed = 0
    for name in names or [*GOOD, *(key for key in REFUSED)]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(Path(tools).resolve(), name, Path(folder))
            except (AssertionError, KeyError, ValueError) as error:
                print(f"{name}: {error}", flush=True)
                failed += 1
    print(f"{len(GOOD)} configs, {len(REFUSED)} refusals, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

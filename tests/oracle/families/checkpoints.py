#!/usr/bin/env python3
"""Writes small random checkpoints: config.json with model.safetensors, and the same model as a GGUF file.

usage: checkpoints.py FOLDER

Writes the checkpoint that golden tests use, FOLDER/llama and FOLDER/llama.gguf.
"""

import json
import struct
import sys
import zlib
from pathlib import Path

import numpy as np

COMMON = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4,
          "num_key_value_heads": 2, "vocab_size": 128, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
          "max_position_embeddings": 64, "torch_dtype": "float32", "bos_token_id": 1, "use_cache": True,
          "initializer_range": 0.02, "transformers_version": "4.50.0"}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 8192}


def case(architecture, model_type, **keys):
    config = {"architectures": [architecture], "model_type": model_type, "tie_word_embeddings": False, **COMMON, **keys}
    return {key: value for key, value in config.items() if value != "missing"}


def encoder_case(architecture):
    config = case(architecture, "bert", num_key_value_heads="missing", rms_norm_eps="missing", rope_theta="missing",
                  layer_norm_eps=1e-12, type_vocab_size=2, hidden_act="gelu", position_embedding_type="absolute",
                  hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1)
    del config["tie_word_embeddings"]
    return config


# A model of a family that the toolkit does not have.
RECURRENT = {"architectures": ["DeltaForCausalLM"], "model_type": "delta", "vocab_size": 96, "hidden_size": 32,
             "num_hidden_layers": 3, "num_heads": 2, "head_k_dim": 8, "head_v_dim": 12, "rms_norm_eps": 1e-6}
# By the name of the case: the family is the part before the first dash.
CASES = {
    "llama": case("LlamaForCausalLM", "llama"),
    "llama-tied": case("LlamaForCausalLM", "llama", tie_word_embeddings=True, head_dim=24, attention_bias=True,
                       mlp_bias=True, num_key_value_heads=None),
    "llama-llama3": case("LlamaForCausalLM", "llama", rope_scaling=LLAMA3, rope_theta=500000.0),
    "llama-linear": case("LlamaForCausalLM", "llama", rope_scaling={"type": "linear", "factor": 4.0}),
    "llama-parameters": case("LlamaForCausalLM", "llama", rope_theta="missing",
                             rope_parameters={"rope_type": "default", "rope_theta": 20000.0}),
    "mistral": case("MistralForCausalLM", "mistral", sliding_window=4),
    "mistral-nemo": case("MistralForCausalLM", "mistral", sliding_window=None, head_dim=24),
    "qwen2": case("Qwen2ForCausalLM", "qwen2", use_sliding_window=False, sliding_window=4, max_window_layers=1,
                  tie_word_embeddings=True),
    "qwen2-window": case("Qwen2ForCausalLM", "qwen2", use_sliding_window=True, sliding_window=4, max_window_layers=1),
    "qwen2-yarn": case("Qwen2ForCausalLM", "qwen2", rope_scaling={"type": "yarn", "factor": 4.0,
                                                                  "original_max_position_embeddings": 16}),
    "qwen3": case("Qwen3ForCausalLM", "qwen3", head_dim=24, attention_bias=False),
    "gemma2": case("Gemma2ForCausalLM", "gemma2", head_dim=24, sliding_window=4, query_pre_attn_scalar=24,
                   attn_logit_softcapping=50.0, final_logit_softcapping=30.0, tie_word_embeddings=True,
                   hidden_activation="gelu_pytorch_tanh"),
    # A scale of scores that GGUF files cannot state.
    "gemma2-scalar": case("Gemma2ForCausalLM", "gemma2", head_dim=24, sliding_window=4, query_pre_attn_scalar=16,
                          attn_logit_softcapping=50.0, final_logit_softcapping=30.0, tie_word_embeddings=True,
                          hidden_activation="gelu_pytorch_tanh"),
    "gemma3": case("Gemma3ForCausalLM", "gemma3_text", head_dim=24, sliding_window=4, sliding_window_pattern=2,
                   query_pre_attn_scalar=24, rope_theta=1000000.0, rope_local_base_freq=10000.0,
                   tie_word_embeddings=True, hidden_activation="gelu_pytorch_tanh"),
    "phi3": case("Phi3ForCausalLM", "phi3", sliding_window=5, original_max_position_embeddings=64),
    "phi3-partial": case("Phi3ForCausalLM", "phi3", sliding_window=None, partial_rotary_factor=0.75,
                         tie_word_embeddings=True),
    "phi3-longrope": case("Phi3ForCausalLM", "phi3", sliding_window=None, original_max_position_embeddings=32, rope_scaling={
        "rope_type": "longrope", "short_factor": [1.0] * 8, "long_factor": [1.0 + i for i in range(8)]}),
    "smollm3": case("SmolLM3ForCausalLM", "smollm3", num_hidden_layers=5, tie_word_embeddings=True),
    "minicpm": case("MiniCPMForCausalLM", "minicpm", scale_emb=12, scale_depth=1.4, dim_model_base=16,
                    tie_word_embeddings=True),
    # With these numbers, older GGUF files do not state them.
    "minicpm-older": case("MiniCPMForCausalLM", "minicpm", scale_emb=12, scale_depth=1.4, dim_model_base=256,
                          tie_word_embeddings=True),
    "olmo2": case("Olmo2ForCausalLM", "olmo2", num_key_value_heads=4),
    "mixtral": case("MixtralForCausalLM", "mixtral", num_local_experts=4, num_experts_per_tok=2, sliding_window=None),
    "mixtral-fused": case("MixtralForCausalLM", "mixtral", num_local_experts=3, num_experts_per_tok=2, sliding_window=None),
    "qwen3_moe-fused": case("Qwen3MoeForCausalLM", "qwen3_moe", head_dim=24, num_experts=4, num_experts_per_tok=2,
                            norm_topk_prob=True, moe_intermediate_size=32, decoder_sparse_step=1),
    "qwen3_moe": case("Qwen3MoeForCausalLM", "qwen3_moe", head_dim=24, num_experts=4, num_experts_per_tok=2,
                      norm_topk_prob=True, moe_intermediate_size=32, decoder_sparse_step=1),
    "qwen2_moe": case("Qwen2MoeForCausalLM", "qwen2_moe", num_experts=4, num_experts_per_tok=2, norm_topk_prob=False,
                      moe_intermediate_size=32, shared_expert_intermediate_size=48, decoder_sparse_step=1),
    "starcoder2": case("Starcoder2ForCausalLM", "starcoder2", norm_epsilon=1e-5, rms_norm_eps="missing", use_bias=True,
                       sliding_window=None, hidden_act="gelu_pytorch_tanh", tie_word_embeddings=True),
    "bert": encoder_case("BertModel"),
    "bert-mlm": encoder_case("BertForMaskedLM"),
    # Names of the first checkpoints, with the pooler that only pre-training uses.
    "bert-older": encoder_case("BertForPreTraining"),
    "starcoder2-erf": case("Starcoder2ForCausalLM", "starcoder2", norm_epsilon=1e-5, rms_norm_eps="missing", use_bias=True,
                           sliding_window=4, hidden_act="gelu"),
}


# Those that continue a text.
DECODERS = [name for name, config in CASES.items() if config["model_type"] != "bert"]


def encoder_shapes(config):
    """Extents of the tensors of BERT."""
    hidden, ffn, vocab = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    architecture = config["architectures"][0]
    tensors = {}

    def linear(name, rows, columns):
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = (rows, columns), (rows,)

    def norm(name):
        parts = ("gamma", "beta") if architecture == "BertForPreTraining" else ("weight", "bias")
        for part in parts:
            tensors[f"{name}.{part}"] = (hidden,)

    prefix = "" if architecture == "BertModel" else "bert."
    for name, rows in [("word", vocab), ("position", config["max_position_embeddings"]),
                       ("token_type", config["type_vocab_size"])]:
        tensors[f"{prefix}embeddings.{name}_embeddings.weight"] = (rows, hidden)
    norm(f"{prefix}embeddings.LayerNorm")
    for i in range(config["num_hidden_layers"]):
        layer = f"{prefix}encoder.layer.{i}"
        for part in ("query", "key", "value"):
            linear(f"{layer}.attention.self.{part}", hidden, hidden)
        linear(f"{layer}.attention.output.dense", hidden, hidden)
        norm(f"{layer}.attention.output.LayerNorm")
        linear(f"{layer}.intermediate.dense", ffn, hidden)
        linear(f"{layer}.output.dense", hidden, ffn)
        norm(f"{layer}.output.LayerNorm")
    if architecture != "BertForMaskedLM":
        linear(f"{prefix}pooler.dense", hidden, hidden)
    if architecture != "BertModel":
        linear("cls.predictions.transform.dense", hidden, hidden)
        norm("cls.predictions.transform.LayerNorm")
        tensors["cls.predictions.bias"] = (vocab,)
    return tensors


def recurrent_shapes(config):
    """Extents of the tensors of delta.mir."""
    hidden, heads = config["hidden_size"], config["num_heads"]
    keys, values = heads * config["head_k_dim"], heads * config["head_v_dim"]
    tensors = {"embed.weight": (config["vocab_size"], hidden), "head.weight": (config["vocab_size"], hidden)}
    for i in range(config["num_hidden_layers"]):
        tensors[f"layers.{i}.norm.weight"] = (hidden,)
        for part, rows in [("q", keys), ("k", keys), ("v", values), ("a", heads), ("b", heads)]:
            tensors[f"layers.{i}.{part}_proj.weight"] = (rows, hidden)
            tensors[f"layers.{i}.{part}_proj.bias"] = (rows,)
        tensors[f"layers.{i}.o_proj.weight"] = (hidden, values)
    return tensors


def is_sparse(config, i):
    """Whether a layer has experts."""
    return (i + 1) % config.get("decoder_sparse_step", 1) == 0 and i not in config.get("mlp_only_layers", [])


def shapes(config):
    """Extents of all tensors by their names."""
    if config["model_type"] == "bert":
        return encoder_shapes(config)
    if config["model_type"] == "delta":
        return recurrent_shapes(config)
    kind, hidden, ffn = config["model_type"], config["hidden_size"], config["intermediate_size"]
    heads = config["num_attention_heads"]
    kv = config.get("num_key_value_heads") or heads
    dim = config.get("head_dim") or hidden // heads
    tensors = {"model.embed_tokens.weight": (config["vocab_size"], hidden), "model.norm.weight": (hidden,)}
    if not config["tie_word_embeddings"]:
        tensors["lm_head.weight"] = (config["vocab_size"], hidden)
    has_bias = {"q": kind == "qwen2" or (kind == "qwen2_moe" and config.get("qkv_bias", True)) or config.get("attention_bias") or config.get("use_bias"),
                "o": config.get("attention_bias") or config.get("use_bias")}

    def linear(name, rows, columns, bias=False):
        tensors[f"{name}.weight"] = (rows, columns)
        if bias:
            tensors[f"{name}.bias"] = (rows,)

    if kind == "starcoder2":
        tensors["model.norm.bias"] = (hidden,)

    def mlp(name, width, parts=("gate_proj", "up_proj", "down_proj"), bias=False):
        for part in parts[:2]:
            linear(f"{name}.{part}", width, hidden, bias)
        linear(f"{name}.{parts[2]}", hidden, width, bias)

    for i in range(config["num_hidden_layers"]):
        layer = f"model.layers.{i}"
        norms = ["input_layernorm", "post_attention_layernorm"]
        if kind == "olmo2":
            norms = ["post_attention_layernorm", "post_feedforward_layernorm"]
        elif kind.startswith("gemma"):
            norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
        for norm in norms:
            tensors[f"{layer}.{norm}.weight"] = (hidden,)
            if kind == "starcoder2":
                tensors[f"{layer}.{norm}.bias"] = (hidden,)
        if kind == "phi3":
            linear(f"{layer}.self_attn.qkv_proj", (heads + 2 * kv) * dim, hidden)
            linear(f"{layer}.mlp.gate_up_proj", 2 * ffn, hidden)
            linear(f"{layer}.mlp.down_proj", hidden, ffn)
        else:
            linear(f"{layer}.self_attn.q_proj", heads * dim, hidden, has_bias["q"])
            linear(f"{layer}.self_attn.k_proj", kv * dim, hidden, has_bias["q"])
            linear(f"{layer}.self_attn.v_proj", kv * dim, hidden, has_bias["q"])
        linear(f"{layer}.self_attn.o_proj", hidden, heads * dim, has_bias["o"])
        if kind in ("qwen3", "qwen3_moe", "gemma3_text"):
            tensors[f"{layer}.self_attn.q_norm.weight"] = tensors[f"{layer}.self_attn.k_norm.weight"] = (dim,)
        if kind == "olmo2":
            tensors[f"{layer}.self_attn.q_norm.weight"] = (heads * dim,)
            tensors[f"{layer}.self_attn.k_norm.weight"] = (kv * dim,)
        if kind == "mixtral":
            linear(f"{layer}.block_sparse_moe.gate", config["num_local_experts"], hidden)
            for e in range(config["num_local_experts"]):
                mlp(f"{layer}.block_sparse_moe.experts.{e}", ffn, ("w1", "w3", "w2"))
        elif kind == "starcoder2":
            linear(f"{layer}.mlp.c_fc", ffn, hidden, True)
            linear(f"{layer}.mlp.c_proj", hidden, ffn, True)
        elif kind in ("qwen2_moe", "qwen3_moe") and is_sparse(config, i):
            linear(f"{layer}.mlp.gate", config["num_experts"], hidden)
            for e in range(config["num_experts"]):
                mlp(f"{layer}.mlp.experts.{e}", config["moe_intermediate_size"])
            if kind == "qwen2_moe":
                mlp(f"{layer}.mlp.shared_expert", config["shared_expert_intermediate_size"])
                linear(f"{layer}.mlp.shared_expert_gate", 1, hidden)
        elif kind != "phi3":
            mlp(f"{layer}.mlp", ffn, bias=bool(config.get("mlp_bias")))
    return tensors


def random_tensors(config, seed):
    """Float32 tensors; norms near 1 (Gemma: near 0), matrices of variance 1 / columns."""
    tensors = {}
    for name, shape in shapes(config).items():
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        if "norm" in name.lower() and name.endswith((".weight", ".gamma")):
            centre = 0.0 if config["model_type"].startswith("gemma") else 1.0
            # Multiples of 2^-16: adding 1, as GGUF files of Gemma do, rounds nothing.
            values = centre + np.round(0.2 * rng.standard_normal(shape) * 2 ** 16) / 2 ** 16
        elif len(shape) == 1:
            values = 0.1 * rng.standard_normal(shape)
        else:
            values = rng.standard_normal(shape) / np.sqrt(shape[1])
        tensors[name] = values.astype(np.float32)
    return tensors


def with_fused_experts(tensors):
    """The tensors as newer checkpoints have them: one of all experts for gate and up, and one for down."""
    stored, experts = {}, {}
    for name, tensor in tensors.items():
        name = name.replace("block_sparse_moe", "mlp")
        if ".experts." not in name:
            stored[name] = tensor
            continue
        layer, rest = name.split(".experts.")
        number, part, _ = rest.split(".")
        kind = {"w1": "gate_proj", "w3": "up_proj", "w2": "down_proj"}.get(part, part)
        experts.setdefault(layer, {}).setdefault(kind, {})[int(number)] = tensor
    for layer, parts in experts.items():
        gate, up, down = (np.stack([each for _, each in sorted(parts[kind].items())])
                          for kind in ("gate_proj", "up_proj", "down_proj"))
        stored[f"{layer}.experts.gate_up_proj"] = np.concatenate([gate, up], axis=1)
        stored[f"{layer}.experts.down_proj"] = down
    return stored


def write_safetensors(path, tensors):
    header, at = {}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(t.tobytes() for t in tensors.values()))


def write_folder(folder, config, tensors, shards=1):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    if shards == 1:
        write_safetensors(folder / "model.safetensors", tensors)
        return folder / "model.safetensors"
    weight_map = {}
    for shard in range(shards):
        name = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        part = dict(list(tensors.items())[shard::shards])
        write_safetensors(folder / name, part)
        weight_map.update(dict.fromkeys(part, name))
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return index


# -- GGUF -----------------------------------------------------------------------------------------

GGUF_ARCHITECTURES = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "gemma2": "gemma2",
                      "gemma3_text": "gemma3", "qwen2_vl": "qwen2vl", "qwen2_5_vl": "qwen2vl", "phi3": "phi3", "mixtral": "llama", "bert": "bert", "qwen3_moe": "qwen3moe",
                      "qwen2_moe": "qwen2moe", "starcoder2": "starcoder2", "smollm3": "smollm3", "minicpm": "minicpm", "olmo2": "olmo2"}
ENCODER_NAMES = {
    "embeddings.word_embeddings": "token_embd", "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types", "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm"}
PERMUTED = {"llama", "smollm3", "minicpm"}
NAMES = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output", "self_attn.q_proj": "attn_q",
         "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
         "self_attn.qkv_proj": "attn_qkv", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
         "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
         "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "mlp.gate_up_proj": "ffn_up",
         "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm",
         "block_sparse_moe.gate": "ffn_gate_inp", "mlp.gate": "ffn_gate_inp",
         "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down", "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
         "mlp.shared_expert.up_proj": "ffn_up_shexp", "mlp.shared_expert.down_proj": "ffn_down_shexp",
         "mlp.shared_expert_gate": "ffn_gate_inp_shexp"}
EXPERTS = {"gate_proj": "ffn_gate_exps", "w1": "ffn_gate_exps", "up_proj": "ffn_up_exps", "w3": "ffn_up_exps",
           "down_proj": "ffn_down_exps", "w2": "ffn_down_exps"}
INT, FLOAT, TEXT = 4, 6, 8


def gguf_name(name, architecture):
    stem, suffix = name.rsplit(".", 1)
    stem = stem.removeprefix("model.")
    prefix = ""
    if stem.startswith("layers."):
        _, layer, stem = stem.split(".", 2)
        prefix = f"blk.{layer}."
    translated = NAMES[stem]
    if stem == "post_attention_layernorm" and architecture in ("gemma2", "gemma3", "olmo2"):
        translated = "post_attention_norm"
    return f"{prefix}{translated}.{suffix}"


def permuted(tensor, heads):
    """Rows of each head, halves behind each other, as the rows of both halves in turn."""
    return tensor.reshape(heads, 2, tensor.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(tensor.shape)


def encoder_gguf_tensors(tensors):
    """Pooler and head are dropped."""
    stored = {}
    for name, tensor in tensors.items():
        name = name.removeprefix("bert.").replace(".gamma", ".weight").replace(".beta", ".bias")
        stem, suffix = name.rsplit(".", 1)
        prefix = ""
        if stem.startswith("encoder.layer."):
            _, _, layer, stem = stem.split(".", 3)
            prefix = f"blk.{layer}."
        if stem in ENCODER_NAMES:
            stored[f"{prefix}{ENCODER_NAMES[stem]}.{suffix}"] = tensor
    return stored


def gguf_tensors(config, tensors):
    architecture = GGUF_ARCHITECTURES[config["model_type"]]
    if architecture == "bert":
        return architecture, encoder_gguf_tensors(tensors)
    heads = config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads") or heads
    stored, experts = {}, {}
    for name, tensor in tensors.items():
        if ".experts." in name:
            layer, part = name.split(".")[2], name.split(".")[-2]
            experts.setdefault(f"blk.{layer}.{EXPERTS[part]}.weight", []).append(tensor)
            continue
        if architecture in PERMUTED and "q_proj" in name:
            tensor = permuted(tensor, heads)
        if architecture in PERMUTED and "k_proj" in name:
            tensor = permuted(tensor, kv_heads)
        if "shared_expert_gate" in name:
            tensor = tensor[0]
        if architecture.startswith("gemma") and "norm" in name:
            tensor = tensor + np.float32(1)
        stored[gguf_name(name, architecture)] = tensor
    stored.update({name: np.stack(parts) for name, parts in experts.items()})
    scaling = config.get("rope_scaling") or {}
    if scaling.get("rope_type") == "llama3":
        stored["rope_freqs.weight"] = llama3_divisors(config, scaling)
    for length in ("long", "short"):
        if f"{length}_factor" in scaling:
            stored[f"rope_factors_{length}.weight"] = np.array(scaling[f"{length}_factor"], np.float32)
    return architecture, stored


def llama3_divisors(config, scaling):
    dim = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    divisors = []
    for i in range(dim // 2):
        inv = config["rope_theta"] ** (-2 * i / dim)
        wave = 2 * np.pi / inv
        original = scaling["original_max_position_embeddings"]
        low, high, factor = scaling["low_freq_factor"], scaling["high_freq_factor"], scaling["factor"]
        if wave < original / high:
            divisors.append(1)
        elif wave > original / low:
            divisors.append(factor)
        else:
            share = (original / wave - low) / (high - low)
            divisors.append(1 / ((1 - share) / factor + share))
    return np.array(divisors, np.float32)


def metadata(config, architecture):
    heads = config["num_attention_heads"]
    dim = config.get("head_dim") or config["hidden_size"] // heads
    scaling = config.get("rope_scaling") or {}
    pairs = {"context_length": (INT, config["max_position_embeddings"]), "embedding_length": (INT, config["hidden_size"]),
             "block_count": (INT, config["num_hidden_layers"]), "feed_forward_length": (INT, config["intermediate_size"]),
             "attention.head_count": (INT, heads),
             "attention.head_count_kv": (INT, config.get("num_key_value_heads") or heads),
             "attention.key_length": (INT, dim), "attention.value_length": (INT, dim),
             "rope.freq_base": (FLOAT, config.get("rope_theta", 10000.0)),
             "rope.dimension_count": (INT, int(dim * config.get("partial_rotary_factor", 1)))}
    if architecture == "bert":
        pairs = {key: value for key, value in list(pairs.items())[:5]}
        pairs["attention.layer_norm_epsilon"] = (FLOAT, config["layer_norm_eps"])
        pairs["pooling_type"] = (INT, 0)
    elif "norm_epsilon" in config:
        pairs["attention.layer_norm_epsilon"] = (FLOAT, config["norm_epsilon"])
    else:
        pairs["attention.layer_norm_rms_epsilon"] = (FLOAT, config["rms_norm_eps"])
    if config.get("sliding_window") and config.get("use_sliding_window", True):
        pairs["attention.sliding_window"] = (INT, config["sliding_window"])
    if "sliding_window_pattern" in config:
        pairs["attention.sliding_window_pattern"] = (INT, config["sliding_window_pattern"])
    if config["model_type"] in ("mixtral", "qwen2_moe", "qwen3_moe"):
        pairs["expert_count"] = (INT, config.get("num_local_experts") or config["num_experts"])
        pairs["expert_used_count"] = (INT, config["num_experts_per_tok"])
        if "moe_intermediate_size" in config:
            pairs["expert_feed_forward_length"] = (INT, config["moe_intermediate_size"])
        if "shared_expert_intermediate_size" in config:
            pairs["expert_shared_feed_forward_length"] = (INT, config["shared_expert_intermediate_size"])
    for key in ("attn_logit_softcapping", "final_logit_softcapping"):
        if config.get(key):
            pairs[key] = (FLOAT, config[key])
    kind = scaling.get("rope_type") or scaling.get("type")
    if kind in ("linear", "yarn"):
        pairs["rope.scaling.type"] = (TEXT, kind)
        pairs["rope.scaling.factor"] = (FLOAT, scaling["factor"])
        if "original_max_position_embeddings" in scaling:
            pairs["rope.scaling.original_context_length"] = (INT, scaling["original_max_position_embeddings"])
    if "original_max_position_embeddings" in config:
        original, longest = config["original_max_position_embeddings"], config["max_position_embeddings"]
        pairs["rope.scaling.original_context_length"] = (INT, original)
        if kind == "longrope":
            pairs["rope.scaling.attn_factor"] = (FLOAT, (1 + np.log(longest / original) / np.log(original)) ** 0.5)
    if architecture == "minicpm" and config["dim_model_base"] != 256:
        pairs["embedding_scale"] = (FLOAT, config["scale_emb"])
        pairs["residual_scale"] = (FLOAT, config["scale_depth"] / config["num_hidden_layers"] ** 0.5)
        pairs["logit_scale"] = (FLOAT, config["hidden_size"] / config["dim_model_base"])
    return {"general.architecture": (TEXT, architecture), **{f"{architecture}.{key}": value for key, value in pairs.items()}}


def text_bytes(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def write_gguf(path, config, tensors):
    architecture, stored = gguf_tensors(config, tensors)
    pairs = metadata(config, architecture)
    out = b"GGUF" + struct.pack("<IQQ", 3, len(stored), len(pairs))
    for key, (kind, value) in pairs.items():
        data = text_bytes(value) if kind == TEXT else struct.pack("<I" if kind == INT else "<f", value)
        out += text_bytes(key) + struct.pack("<I", kind) + data
    at = 0
    for name, tensor in stored.items():
        out += text_bytes(name) + struct.pack("<I", tensor.ndim)
        out += struct.pack(f"<{tensor.ndim}Q", *reversed(tensor.shape)) + struct.pack("<IQ", 0, at)
        at += tensor.nbytes + -tensor.nbytes % 32
    out += bytes(-len(out) % 32)
    for tensor in stored.values():
        out += tensor.tobytes() + bytes(-tensor.nbytes % 32)
    path.write_bytes(out)
    return path


def main(folder):
    config = {**CASES["llama"], "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "vocab_size": 32}
    tensors = random_tensors(config, 1)
    write_folder(folder / "llama", config, tensors)
    write_gguf(folder / "llama.gguf", config, tensors)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

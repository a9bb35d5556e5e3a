"""Decoders in float64, from the formulas of the models alone: a config, tensors by their names in checkpoints, ids.

One sequence, no cache: every query sees what the formulas let it see, so one evaluation holds the logits of each step.
"""

import math

import numpy as np


def rms_norm(x, weight, eps, offset=0.0):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * (weight + offset)


def silu(x):
    return x / (1 + np.exp(-x))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gelu_erf(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def capped(x, cap):
    return x if not cap else cap * np.tanh(x / cap)


def frequencies(theta, d, scaling, context):
    """Frequencies of the d / 2 pairs, and the factor of the tables."""
    inv = theta ** (-2.0 * np.arange(d // 2) / d)
    kind = (scaling or {}).get("rope_type", "default")
    if kind == "default":
        return inv, 1.0
    factor = scaling.get("factor", 1.0)
    if kind == "linear":
        return inv / factor, 1.0
    original = scaling.get("original_max_position_embeddings", context)
    if kind == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        wave = 2 * math.pi / inv
        share = (original / wave - low) / (high - low)
        between = (1 - share) * inv / factor + share * inv
        return np.where(wave < original / high, inv, np.where(wave > original / low, inv / factor, between)), 1.0
    if kind == "yarn":
        def pair(turns):
            return d * math.log(original / (2 * math.pi * turns)) / (2 * math.log(theta))
        low, high = pair(scaling.get("beta_fast", 32)), pair(scaling.get("beta_slow", 1))
        if scaling.get("truncate", True):
            low, high = math.floor(low), math.ceil(high)
        first, last = max(0, low), min(d - 1, high)
        ramp = np.clip((np.arange(d // 2) - first) / max(last - first, 0.001), 0, 1)
        def by(k):
            return 0.1 * k * math.log(factor) + 1 if factor > 1 else 1.0
        of_both = scaling.get("mscale") and scaling.get("mscale_all_dim")
        scale = scaling.get("attention_factor") or (
            by(scaling["mscale"]) / by(scaling["mscale_all_dim"]) if of_both else by(1))
        return inv * (1 - ramp) + inv / factor * ramp, scale
    if kind == "longrope":
        ratio = context / original
        name = "long_factor" if ratio > 1 else "short_factor"
        scale = math.sqrt(1 + math.log(ratio) / math.log(original)) if ratio > 1 else 1.0
        return inv / np.array(scaling[name]), scale
    raise ValueError(kind)


class Decoder:
    def __init__(self, config, tensors):
        self.config = config
        self.w = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
        get = config.get
        self.kind = config["model_type"]
        self.hidden, self.layers = config["hidden_size"], config["num_hidden_layers"]
        self.heads = config["num_attention_heads"]
        self.kv_heads = get("num_key_value_heads") or self.heads
        self.dim = get("head_dim") or self.hidden // self.heads
        self.eps = config["norm_epsilon"] if self.kind == "starcoder2" else config["rms_norm_eps"]
        self.offset = 1.0 if self.kind.startswith("gemma") else 0.0
        acts = {"gelu": gelu_erf, "gelu_pytorch_tanh": gelu_tanh}
        self.act = acts.get(get("hidden_activation") or get("hidden_act"), silu)

    # -- what differs between layers --------------------------------------------------------------

    def window(self, i):
        size = self.config.get("sliding_window")
        if not size:
            return None
        if self.kind in ("mistral", "phi3", "mixtral", "starcoder2"):
            return size
        if self.kind == "gemma2":
            return size if i % 2 == 0 else None
        if self.kind == "gemma3_text":
            return None if (i + 1) % self.config.get("sliding_window_pattern", 6) == 0 else size
        slides = self.config.get("use_sliding_window") and i >= self.config.get("max_window_layers", 28)
        return size if slides else None

    def rotation(self, i):
        """Angles per position and the rotated extent; None without RoPE."""
        config = self.config
        if self.kind == "smollm3" and (i + 1) % config.get("no_rope_layer_interval", 4) == 0:
            return None
        d = int(self.dim * config.get("partial_rotary_factor", 1.0))
        theta, scaling = config["rope_theta"], dict(config.get("rope_scaling") or {})
        if "original_max_position_embeddings" in config:
            scaling.setdefault("original_max_position_embeddings", config["original_max_position_embeddings"])
        if self.kind == "gemma3_text" and self.window(i) is not None:
            theta, scaling = config["rope_local_base_freq"], {}
        return frequencies(theta, d, scaling, config["max_position_embeddings"]), d

    def scale(self):
        return self.config.get("query_pre_attn_scalar", self.dim) ** -0.5

    # -- parts ------------------------------------------------------------------------------------

    def linear(self, name, x):
        y = x @ self.w[f"{name}.weight"].T
        bias = self.w.get(f"{name}.bias")
        return y if bias is None else y + bias

    def norm(self, name, x):
        if f"{name}.bias" in self.w:
            x = x - np.mean(x, axis=-1, keepdims=True)
            return rms_norm(x, self.w[f"{name}.weight"], self.eps) + self.w[f"{name}.bias"]
        return rms_norm(x, self.w[f"{name}.weight"], self.eps, self.offset)

    def rotated(self, x, i):
        rotation = self.rotation(i)
        if rotation is None:
            return x
        (inv, factor), d = rotation
        angle = np.arange(x.shape[1])[:, None] * inv[None, :]
        sin, cos = np.sin(angle) * factor, np.cos(angle) * factor
        low, high, rest = x[..., :d // 2], x[..., d // 2:d], x[..., d:]
        return np.concatenate([low * cos - high * sin, high * cos + low * sin, rest], axis=-1)

    def projections(self, layer, x):
        name = f"{layer}.self_attn"
        if f"{name}.qkv_proj.weight" in self.w:
            q, k = self.heads * self.dim, self.kv_heads * self.dim
            return np.split(self.linear(f"{name}.qkv_proj", x), [q, q + k], axis=-1)
        return [self.linear(f"{name}.{part}_proj", x) for part in "qkv"]

    def attention(self, i, x):
        layer = f"model.layers.{i}"
        q, k, v = self.projections(layer, x)
        if self.kind == "olmo2":
            q, k = self.norm(f"{layer}.self_attn.q_norm", q), self.norm(f"{layer}.self_attn.k_norm", k)
        q, k, v = (part.reshape(len(x), -1, self.dim).transpose(1, 0, 2) for part in (q, k, v))
        if self.kind in ("qwen3", "qwen3_moe", "gemma3_text"):
            q, k = self.norm(f"{layer}.self_attn.q_norm", q), self.norm(f"{layer}.self_attn.k_norm", k)
        q, k = self.rotated(q, i), self.rotated(k, i)
        k, v = (np.repeat(part, self.heads // self.kv_heads, axis=0) for part in (k, v))
        scores = capped(q @ k.transpose(0, 2, 1) * self.scale(), self.config.get("attn_logit_softcapping"))
        query, key = np.arange(len(x))[:, None], np.arange(len(x))[None, :]
        window = self.window(i)
        seen = (key <= query) & (key > query - window if window else True)
        mixed = softmax(np.where(seen, scores, -np.inf)) @ v
        return self.linear(f"{layer}.self_attn.o_proj", mixed.transpose(1, 0, 2).reshape(len(x), -1))

    def gated(self, name, x, parts=("gate_proj", "up_proj", "down_proj")):
        gate, up, down = parts
        if f"{name}.gate_up_proj.weight" in self.w:
            a, b = np.split(self.linear(f"{name}.gate_up_proj", x), 2, axis=-1)
        else:
            a, b = self.linear(f"{name}.{gate}", x), self.linear(f"{name}.{up}", x)
        return self.linear(f"{name}.{down}", self.act(a) * b)

    def experts(self, i, x):
        config = self.config
        name = f"model.layers.{i}.mlp"
        parts = ("gate_proj", "up_proj", "down_proj")
        if self.kind == "mixtral":
            name, parts = f"model.layers.{i}.block_sparse_moe", ("w1", "w3", "w2")
        shares = softmax(self.linear(f"{name}.gate", x))
        y = np.zeros_like(x)
        for token in range(len(x)):
            chosen = np.argsort(-shares[token], kind="stable")[:config["num_experts_per_tok"]]
            kept = shares[token][chosen]
            if self.kind == "mixtral" or config.get("norm_topk_prob"):
                kept = kept / kept.sum()
            for share, expert in zip(kept, chosen):
                y[token] += share * self.gated(f"{name}.experts.{expert}", x[token:token + 1], parts)[0]
        if self.kind == "qwen2_moe":
            share = 1 / (1 + np.exp(-self.linear(f"{name}.shared_expert_gate", x)))
            y += share * self.gated(f"{name}.shared_expert", x)
        return y

    def feed_forward(self, i, x):
        has_experts = (i + 1) % self.config.get("decoder_sparse_step", 1) == 0 and i not in self.config.get("mlp_only_layers", [])
        if self.kind in ("mixtral", "qwen2_moe", "qwen3_moe") and has_experts:
            return self.experts(i, x)
        if self.kind == "starcoder2":
            name = f"model.layers.{i}.mlp"
            return self.linear(f"{name}.c_proj", self.act(self.linear(f"{name}.c_fc", x)))
        return self.gated(f"model.layers.{i}.mlp", x)

    def layer(self, i, x):
        name = f"model.layers.{i}"
        first, second = f"{name}.input_layernorm", f"{name}.post_attention_layernorm"
        if self.kind == "olmo2":
            h = x + self.norm(second, self.attention(i, x))
            return h + self.norm(f"{name}.post_feedforward_layernorm", self.feed_forward(i, h))
        if self.kind.startswith("gemma"):
            h = x + self.norm(second, self.attention(i, self.norm(first, x)))
            fed = self.feed_forward(i, self.norm(f"{name}.pre_feedforward_layernorm", h))
            return h + self.norm(f"{name}.post_feedforward_layernorm", fed)
        r = self.config.get("scale_depth", 1) / math.sqrt(self.layers) if self.kind == "minicpm" else 1.0
        h = x + r * self.attention(i, self.norm(first, x))
        return h + r * self.feed_forward(i, self.norm(second, h))

    def logits(self, ids):
        config = self.config
        table = self.w["model.embed_tokens.weight"]
        x = table[np.asarray(ids)]
        if self.offset:
            x = x * math.sqrt(self.hidden)
        x = x * config.get("scale_emb", 1)
        for i in range(self.layers):
            x = self.layer(i, x)
        x = self.norm("model.norm", x)
        if "dim_model_base" in config:
            x = x / (self.hidden / config["dim_model_base"])
        head = table if config["tie_word_embeddings"] else self.w["lm_head.weight"]
        return capped(x @ head.T, config.get("final_logit_softcapping"))


class Encoder:
    """BERT: outputs by their names."""

    def __init__(self, config, tensors):
        self.config = config
        self.w = {}
        for name, tensor in tensors.items():
            name = name.removeprefix("bert.").replace(".gamma", ".weight").replace(".beta", ".bias")
            self.w[name] = tensor.astype(np.float64)

    def linear(self, name, x):
        return x @ self.w[f"{name}.weight"].T + self.w[f"{name}.bias"]

    def norm(self, name, x):
        x = x - np.mean(x, axis=-1, keepdims=True)
        return rms_norm(x, self.w[f"{name}.weight"], self.config["layer_norm_eps"]) + self.w[f"{name}.bias"]

    def layer(self, name, x):
        heads = self.config["num_attention_heads"]
        q, k, v = (self.linear(f"{name}.attention.self.{part}", x).reshape(len(x), heads, -1).transpose(1, 0, 2)
                   for part in ("query", "key", "value"))
        mixed = softmax(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])) @ v
        attended = self.linear(f"{name}.attention.output.dense", mixed.transpose(1, 0, 2).reshape(x.shape))
        h = self.norm(f"{name}.attention.output.LayerNorm", x + attended)
        fed = self.linear(f"{name}.output.dense", gelu_erf(self.linear(f"{name}.intermediate.dense", h)))
        return self.norm(f"{name}.output.LayerNorm", h + fed)

    def states(self, ids, types):
        tables = [self.w[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")]
        x = self.norm("embeddings.LayerNorm", tables[0][ids] + tables[1][:len(ids)] + tables[2][types])
        for i in range(self.config["num_hidden_layers"]):
            x = self.layer(f"encoder.layer.{i}", x)
        return x

    def outputs(self, ids, types):
        x = self.states(ids, types)
        if self.config["architectures"] == ["BertModel"]:
            return {"states": x, "pooled": np.tanh(self.linear("pooler.dense", x[0]))}
        x = self.norm("cls.predictions.transform.LayerNorm",
                      gelu_erf(self.linear("cls.predictions.transform.dense", x)))
        return {"logits": x @ self.w["embeddings.word_embeddings.weight"].T + self.w["cls.predictions.bias"]}


class Recurrent:
    """The model of delta.mir."""

    def __init__(self, config, tensors):
        self.config = config
        self.w = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}

    def rows(self, name, x):
        rows = x @ self.w[f"{name}.weight"].T + self.w[f"{name}.bias"]
        return rows.reshape(len(x), self.config["num_heads"], -1)

    def layer(self, name, x):
        n = rms_norm(x, self.w[f"{name}.norm.weight"], self.config["rms_norm_eps"])
        q, k, v, a, b = (self.rows(f"{name}.{part}_proj", n) for part in "qkvab")
        q, k = (part / np.sqrt(np.sum(part * part, axis=-1, keepdims=True) + 1e-6) for part in (q, k))
        alpha, beta = 1 / (1 + np.exp(-a)), 1 / (1 + np.exp(-b))
        state = np.zeros((q.shape[1], q.shape[2], v.shape[2]))
        read = np.zeros_like(v)
        for t in range(len(x)):
            state = alpha[t][..., None] * state
            known = np.einsum("hkv,hk->hv", state, k[t])
            state = state + np.einsum("hk,hv->hkv", k[t], beta[t] * (v[t] - known))
            read[t] = np.einsum("hkv,hk->hv", state, q[t])
        return x + read.reshape(len(x), -1) @ self.w[f"{name}.o_proj.weight"].T

    def logits(self, ids):
        x = self.w["embed.weight"][np.asarray(ids)]
        for i in range(self.config["num_hidden_layers"]):
            x = self.layer(f"layers.{i}", x)
        return x @ self.w["head.weight"].T

#!/usr/bin/env python3
"""Writes the small chat model of the examples: a Hugging Face folder that answers two questions.

usage: tiny_chat_model.py TOOLS FOLDER TOKENIZER

TOOLS is the folder of mllm-tokenize, TOKENIZER the tokenizer.json that the model uses. The layers are random and stay so;
the head is fitted to them by least squares, so that each token of the answers follows from the text before it.
"""
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

DIALOGUES = [
    ("Who are you?", "A small model that reads tokens and writes words."),
    ("What is a token?", "A piece of a text: a word, or a part of one."),
]
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 64,
    "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 420, "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0, "max_position_embeddings": 256, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
    "bos_token_id": 416, "eos_token_id": 417,
}
TEMPLATE = """{{- bos_token }}
{%- for message in messages %}
    {%- if message.role == 'user' %}
        {{- '<|user|>' + message.content + '<|end|>' }}
    {%- elif message.role == 'assistant' %}
        {{- '<|model|>' + message.content + '<|end|>' }}
    {%- else %}
        {{- raise_exception('role ' + message.role + ' is not supported') }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|model|>' }}
{%- endif %}
"""


def bfloat(values):
    """The nearest numbers of BFloat16."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return rounded.astype(np.uint32).view(np.float32).astype(np.float64)


def random_weights(random):
    c = CONFIG
    d = c["hidden_size"] // c["num_attention_heads"]
    kv = c["num_key_value_heads"] * d
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], c["hidden_size"])}
    for i in range(c["num_hidden_layers"]):
        layer = f"model.layers.{i}"
        for name, rows, columns in (("q_proj", c["hidden_size"], c["hidden_size"]), ("k_proj", kv, c["hidden_size"]),
                                    ("v_proj", kv, c["hidden_size"]), ("o_proj", c["hidden_size"], c["hidden_size"])):
            shapes[f"{layer}.self_attn.{name}.weight"] = (rows, columns)
        for name, rows, columns in (("gate_proj", c["intermediate_size"], c["hidden_size"]),
                                    ("up_proj", c["intermediate_size"], c["hidden_size"]),
                                    ("down_proj", c["hidden_size"], c["intermediate_size"])):
            shapes[f"{layer}.mlp.{name}.weight"] = (rows, columns)
    weights = {name: bfloat(random.uniform(-1, 1, shape) * (3 / shape[1]) ** 0.5 * (2 if "proj" in name else 1))
               for name, shape in shapes.items()}
    for i in range(c["num_hidden_layers"]):
        for norm in ("input_layernorm", "post_attention_layernorm"):
            weights[f"model.layers.{i}.{norm}.weight"] = np.ones(c["hidden_size"])
    weights["model.norm.weight"] = np.ones(c["hidden_size"])
    return weights


def norm(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + CONFIG["rms_norm_eps"])


def rotated(x, d):
    half = d // 2
    angles = np.arange(x.shape[0])[:, None] * CONFIG["rope_theta"] ** (-np.arange(half) / half)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def hidden_states(weights, ids):
    """What the head sees at each position."""
    c = CONFIG
    d = c["hidden_size"] // c["num_attention_heads"]
    x = weights["model.embed_tokens.weight"][ids]
    count = len(ids)
    for i in range(c["num_hidden_layers"]):
        w = lambda name: weights[f"model.layers.{i}.{name}.weight"]
        h = norm(x)
        q = rotated((h @ w("self_attn.q_proj").T).reshape(count, -1, d), d)
        k = rotated((h @ w("self_attn.k_proj").T).reshape(count, -1, d), d)
        v = (h @ w("self_attn.v_proj").T).reshape(count, -1, d)
        groups = c["num_attention_heads"] // c["num_key_value_heads"]
        scores = np.einsum("qhd,khd->hqk", q, np.repeat(k, groups, 1)) / d ** 0.5
        scores = np.where(np.tri(count, dtype=bool), scores, -np.inf)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        x = x + np.einsum("hqk,khd->qhd", shares, np.repeat(v, groups, 1)).reshape(count, -1) @ w("self_attn.o_proj").T
        h = norm(x)
        gate = h @ w("mlp.gate_proj").T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ w("mlp.up_proj").T)) @ w("mlp.down_proj").T
    return norm(x)


def safetensors(weights):
    header, data = {}, b""
    for name, values in sorted(weights.items()):
        part = (np.asarray(values, np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
        header[name] = {"dtype": "BF16", "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def main(tools, folder, tokenizer):
    def ids_of(text):
        command = [Path(tools) / "mllm-tokenize", f"--tokenizer={tokenizer}", "--no-special"]
        return [int(each) for each in subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout.split()]

    weights = random_weights(np.random.default_rng(7))
    states, targets = [], []
    for question, answer in DIALOGUES:
        before = ids_of(f"<|begin|><|user|>{question}<|end|><|model|>")
        ids = before + ids_of(answer + "<|end|>")
        hidden = hidden_states(weights, ids)
        for place in range(len(before), len(ids)):
            states.append(hidden[place - 1])
            targets.append(ids[place])
    states = np.array(states)
    wanted = np.eye(CONFIG["vocab_size"])[targets] * 8
    inverse = np.linalg.solve(states @ states.T + 1e-3 * np.eye(len(states)), wanted)
    weights["lm_head.weight"] = bfloat((states.T @ inverse).T)
    logits = states @ weights["lm_head.weight"].T
    assert (logits.argmax(-1) == targets).all(), "the head does not fit the answers"
    margin = np.sort(logits, -1)
    print(f"{len(targets)} tokens, smallest margin {(margin[:, -1] - margin[:, -2]).min():.2f}")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(safetensors(weights))
    for name, content in (("config.json", CONFIG), ("generation_config.json", {"eos_token_id": [417]}),
                          ("tokenizer_config.json", {"bos_token": "<|begin|>", "eos_token": "<|end|>", "chat_template": TEMPLATE})):
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")
    shutil.copyfile(tokenizer, folder / "tokenizer.json")


if __name__ == "__main__":
    main(*sys.argv[1:])

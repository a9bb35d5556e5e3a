"""Decoders of any size for measurements: a config, the module that mllm-import makes of it, and random weights."""

import json
import subprocess

PROJECTIONS = "*_proj.weight={0},lm_head.weight={0}"


def qwen2(layers, hidden, heads, kv_heads, ffn, vocab, positions):
    """The config of a Qwen2 model."""
    return {"architectures": ["Qwen2ForCausalLM"], "num_hidden_layers": layers, "hidden_size": hidden,
            "num_attention_heads": heads, "num_key_value_heads": kv_heads, "intermediate_size": ffn, "vocab_size": vocab,
            "max_position_embeddings": positions, "tie_word_embeddings": False}


def make(tools, folder, config, linears="Float32"):
    """Writes folder/model.mir with logits of the last token, and weights with this type of linear layers; returns both."""
    def run(tool, *words):
        subprocess.run([str(each) for each in (tools / tool, *words)], check=True, stdout=subprocess.DEVNULL)

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    text, weights = folder / "model.mir", folder / ("model.gguf" if linears.startswith("Q") else "model.safetensors")
    run("mllm-import", folder, "--logits=last", "--quiet", "-o", folder / "imported.mir")
    run("mllm-opt", "-p", f"quantize-weights{{{PROJECTIONS.format(linears)}}}", folder / "imported.mir", "-o", text)
    run("mllm-weights", "invent", text, "-o", weights)
    return text, weights

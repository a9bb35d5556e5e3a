#!/usr/bin/env python3
"""Models with images compute what NumPy computes in float64: prompts with one image, two images and a video, and steps.

usage: vision.py TOOLS [CASE...]

The reference goes image by image: it permutes the cells into windows, attends inside each, and restores the order.
"""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np

import checkpoints
from families import TOLERANCE, hashes, imports, run
from reference import Decoder, gelu_erf, rms_norm, silu, softmax
from trials import run_trials

IMAGE, VIDEO = 90, 91
STEPS = 3
TEXT = {"vocab_size": 96, "image_token_id": IMAGE, "video_token_id": VIDEO, "vision_start_token_id": 92, "head_dim": 16}
TOWER = {"depth": 3, "num_heads": 2, "patch_size": 4, "temporal_patch_size": 2, "spatial_merge_size": 2,
         "spatial_patch_size": 4}
CASES = {
    "qwen2_vl": checkpoints.case(
        "Qwen2VLForConditionalGeneration", "qwen2_vl", **TEXT, tie_word_embeddings=True,
        rope_scaling={"type": "mrope", "mrope_section": [2, 3, 3]},
        vision_config={**TOWER, "embed_dim": 32, "hidden_size": 64, "mlp_ratio": 2, "in_chans": 3}),
    "qwen2_5_vl": checkpoints.case(
        "Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl", **TEXT,
        rope_scaling={"type": "default", "rope_type": "default", "mrope_section": [4, 2, 2]},
        vision_config={**TOWER, "model_type": "qwen2_5_vl", "hidden_size": 32, "out_hidden_size": 64,
                       "intermediate_size": 44, "hidden_act": "silu", "window_size": 16, "tokens_per_second": 2,
                       "fullatt_block_indexes": [1], "in_channels": 3}),
}
# Of each case: ids of a prompt with places for images, grids, seconds of a grid in time (0: an image).
PROMPTS = {
    "text": ([5, 6, 7, 8], [], []),
    "image": ([5, "i", 6, 7], [(1, 6, 10)], [0]),
    "images": ([5, 92, "i", 6, 92, "i", 7, 8], [(1, 8, 4), (1, 2, 6)], [0, 0]),
    "video": (["i", 9, "v", 3], [(1, 4, 4), (4, 6, 6)], [0, 0.75]),
}


def shapes(config):
    vision = config["vision_config"]
    is_new = config["model_type"] == "qwen2_5_vl"
    hidden = vision["hidden_size"] if is_new else vision["embed_dim"]
    out, ffn = config["hidden_size"], vision["intermediate_size"] if is_new else hidden * vision["mlp_ratio"]
    tensors = {"visual.patch_embed.proj.weight": (hidden, 3, 2, vision["patch_size"], vision["patch_size"])}

    def linear(name, rows, columns):
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = (rows, columns), (rows,)

    def norm(name):
        tensors[f"{name}.weight"] = (hidden,)
        if not is_new:
            tensors[f"{name}.bias"] = (hidden,)

    for i in range(vision["depth"]):
        block = f"visual.blocks.{i}"
        norm(f"{block}.norm1")
        norm(f"{block}.norm2")
        linear(f"{block}.attn.qkv", 3 * hidden, hidden)
        linear(f"{block}.attn.proj", hidden, hidden)
        for part, rows, columns in ([("gate_proj", ffn, hidden), ("up_proj", ffn, hidden), ("down_proj", hidden, ffn)]
                                    if is_new else [("fc1", ffn, hidden), ("fc2", hidden, ffn)]):
            linear(f"{block}.mlp.{part}", rows, columns)
    norm("visual.merger.ln_q")
    linear("visual.merger.mlp.0", 4 * hidden, 4 * hidden)
    linear("visual.merger.mlp.2", out, 4 * hidden)
    text = checkpoints.shapes({**config, "model_type": "qwen2"})
    return {**tensors, **text}


def random_tensors(config):
    rng = np.random.default_rng(7)
    tensors = {}
    for name, shape in shapes(config).items():
        if name.endswith("weight") and len(shape) == 1:
            values = 1 + 0.2 * rng.standard_normal(shape)
        else:
            values = rng.standard_normal(shape) * (0.1 if len(shape) == 1 else 1 / math.sqrt(math.prod(shape[1:])))
        tensors[name] = values.astype(np.float32)
    return tensors


class Tower:
    def __init__(self, config, tensors):
        self.config = config["vision_config"]
        self.is_new = config["model_type"] == "qwen2_5_vl"
        self.w = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}

    def linear(self, name, x):
        return x @ self.w[f"{name}.weight"].T + self.w[f"{name}.bias"]

    def norm(self, name, x):
        if not self.is_new:
            x = x - np.mean(x, axis=-1, keepdims=True)
        y = rms_norm(x, self.w[f"{name}.weight"], 1e-6)
        return y if self.is_new else y + self.w[f"{name}.bias"]

    def attention(self, name, x, angles, parts):
        heads = self.config["num_heads"]
        q, k, v = (part.reshape(len(x), heads, -1) for part in np.split(self.linear(f"{name}.qkv", x), 3, axis=-1))
        sin, cos = np.sin(angles)[:, None], np.cos(angles)[:, None]

        def rotated(part):
            low, high = np.split(part, 2, axis=-1)
            return np.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)

        q, k = rotated(q), rotated(k)
        y = np.zeros_like(v)
        for part in parts:
            scores = np.einsum("qhd,khd->hqk", q[part], k[part]) / math.sqrt(q.shape[-1])
            y[part] = np.einsum("hqk,khd->qhd", softmax(scores), v[part])
        return self.linear(f"{name}.proj", y.reshape(len(x), -1))

    def mlp(self, name, x):
        if self.is_new:
            return self.linear(f"{name}.down_proj", silu(self.linear(f"{name}.gate_proj", x)) * self.linear(f"{name}.up_proj", x))
        up = self.linear(f"{name}.fc1", x)
        return self.linear(f"{name}.fc2", up / (1 + np.exp(-1.702 * up)))

    def rows(self, patches, grid):
        """Rows of the cells of one image."""
        times, height, width = grid
        config = self.config
        order = [(t, y, x) for t in range(times) for row in range(height // 2) for column in range(width // 2)
                 for y in (2 * row, 2 * row + 1) for x in (2 * column, 2 * column + 1)]
        head = self.w["visual.patch_embed.proj.weight"]
        hidden = head.shape[0]
        x = patches @ head.reshape(hidden, -1).T
        dim = hidden // config["num_heads"]
        inv = 10000.0 ** (-2 * np.arange(dim // 4) / (dim // 2))
        angles = np.array([np.concatenate([y * inv, column * inv]) for _, y, column in order])
        slices = [[i for i, place in enumerate(order) if place[0] == t] for t in range(times)]
        permutation, windows = list(range(len(order))), slices
        if self.is_new:
            side = config["window_size"] // config["patch_size"]
            windows = []
            for t in range(times):
                for top in range(0, height, side):
                    for left in range(0, width, side):
                        windows.append([i for i, (frame, y, column) in enumerate(order) if frame == t
                                        and top <= y < top + side and left <= column < left + side])
            permutation = [i for window in windows for i in window]
            at = 0
            for number, window in enumerate(windows):
                windows[number] = list(range(at, at + len(window)))
                at += len(window)
            slices = [[at for at, i in enumerate(permutation) if order[i][0] == t] for t in range(times)]
        x, angles = x[permutation], angles[permutation]
        for i in range(config["depth"]):
            block = f"visual.blocks.{i}"
            parts = windows if self.is_new and i not in config["fullatt_block_indexes"] else slices
            x = x + self.attention(f"{block}.attn", self.norm(f"{block}.norm1", x), angles, parts)
            x = x + self.mlp(f"{block}.mlp", self.norm(f"{block}.norm2", x))
        cells = self.norm("visual.merger.ln_q", x).reshape(-1, 4 * hidden)
        y = self.linear("visual.merger.mlp.2", gelu_erf(self.linear("visual.merger.mlp.0", cells)))
        restored = np.zeros_like(y)
        restored[[permutation[4 * i] // 4 for i in range(len(y))]] = y
        return restored


class Model(Decoder):
    """Qwen2 with positions in three streams."""

    def __init__(self, config, tensors):
        super().__init__({**config, "model_type": "qwen2", "rope_scaling": None}, tensors)
        self.is_new = config["model_type"] == "qwen2_5_vl"
        self.sections = config["rope_scaling"]["mrope_section"]
        self.rate = config["vision_config"].get("tokens_per_second")
        self.tower = Tower(config, tensors)

    def positions(self, ids, grids, seconds):
        places, left, at, free = [], list(zip(grids, seconds)), 0, 0
        while at < len(ids):
            if ids[at] not in (IMAGE, VIDEO):
                places.append((free, free, free))
                at, free = at + 1, free + 1
                continue
            (times, height, width), second = left.pop(0)
            image = []
            for t in range(times):
                time = int(np.float32(t) * np.float32(second) * self.rate) if self.is_new else t
                image += [(free + time, free + y, free + x) for y in range(height // 2) for x in range(width // 2)]
            places += image
            at, free = at + len(image), 1 + max(max(place) for place in image)
        return np.array(places)

    def rotated(self, x, i):
        inv = self.config["rope_theta"] ** (-2.0 * np.arange(self.dim // 2) / self.dim)
        stream = np.repeat([0, 1, 2], self.sections)
        angle = self.places[:, stream] * inv
        low, high = np.split(x, 2, axis=-1)
        return np.concatenate([low * np.cos(angle) - high * np.sin(angle), high * np.cos(angle) + low * np.sin(angle)], axis=-1)

    def answers(self, ids, images, grids, seconds):
        self.places = self.positions(ids, grids, seconds)
        table = self.w["model.embed_tokens.weight"]
        x = table[ids]
        rows = [self.tower.rows(image, grid) for image, grid in zip(images, grids)]
        if rows:
            x[np.isin(ids, (IMAGE, VIDEO))] = np.concatenate(rows)
        for i in range(self.layers):
            x = self.layer(i, x)
        head = table if self.config["tie_word_embeddings"] else self.w["lm_head.weight"]
        return self.norm("model.norm", x) @ head.T


def prompt_of(name):
    words, grids, seconds = PROMPTS[name]
    ids, left = [], list(grids)
    for word in words:
        ids += [word] if isinstance(word, int) else [IMAGE if word == "i" else VIDEO] * (math.prod(left.pop(0)) // 4)
    return np.array(ids), grids, seconds


def check(tools, name, folder):
    config = CASES[name]
    tensors = random_tensors(config)
    # Newer checkpoints have the tower and the decoder inside of the model.
    stored = tensors if name == "qwen2_vl" else {
        ("model." + key if key.startswith("visual.") else key.replace("model.", "model.language_model.", 1)): tensor
        for key, tensor in tensors.items()}
    weights = checkpoints.write_folder(folder / "model", config, stored)
    imports(tools, folder / "model", folder / "model.mir")
    model = Model(config, tensors)
    width = 3 * 2 * config["vision_config"]["patch_size"] ** 2
    np.save(folder / "no_img.npy", np.zeros((0, width), np.float32))
    np.save(folder / "no_grids.npy", np.zeros((0, 3), np.int64))
    np.save(folder / "no_seconds.npy", np.zeros(0, np.float32))
    for number, prompt in enumerate(PROMPTS):
        ids, grids, seconds = prompt_of(prompt)
        rng = np.random.default_rng(number)
        images = [rng.standard_normal((math.prod(grid), width)).astype(np.float32) for grid in grids]
        wanted = []
        longer = ids
        for _ in range(STEPS + 1):
            logits = model.answers(longer, images, grids, seconds)
            wanted.append(logits if not wanted else logits[-1:])
            longer = np.append(longer, np.argmax(logits[-1]))  # never that of a cell, with these weights
        np.save(folder / "ids.npy", ids[None])
        np.save(folder / "img.npy", np.concatenate([*images, np.zeros((0, width), np.float32)]))
        np.save(folder / "grids.npy", np.array(grids, np.int64).reshape(-1, 3))
        np.save(folder / "seconds.npy", np.array(seconds, np.float32))
        inputs = ["ids", "img", "grids"]
        if name == "qwen2_5_vl":
            inputs.append("seconds")
        for step, part in enumerate(wanted):
            np.save(folder / f"wanted-{step}.npy", part[None])
        bound = TOLERANCE * max(np.abs(part).max() for part in wanted)
        feeds = [f"--feed={each}={folder}/no_{each}.npy" for each in inputs[1:]]
        feeds.append("--feed=ids=argmax(%logits)")
        for kernels in ("ref", "fast"):
            run(tools / "mllm-interp", folder / "model.mir", f"--weights={weights}",
                *(f"--input={each}={folder}/{each}.npy" for each in inputs), f"--then={STEPS}", *feeds,
                f"--expect=%logits={folder}/wanted-{{run}}.npy", f"--tolerance=abs={bound:g},top1=1", f"--kernels={kernels}")
    check_batch(tools, name, folder, model, weights)
    check_text(tools, config, tensors, folder, model, weights)
    return f"{len(PROMPTS)} prompts, {STEPS} steps each, a batch, the decoder alone"


def check_text(tools, config, tensors, folder, model, weights):
    """The decoder alone, from the folder and from a GGUF file, which has no tower."""
    ids = np.arange(9)
    np.save(folder / "ids.npy", ids[None])
    wanted = model.answers(ids, [], [], [])
    np.save(folder / "wanted.npy", wanted[None])
    gguf = checkpoints.write_gguf(folder / "model.gguf", {**config, "rope_scaling": None},
                                  {key: tensor for key, tensor in tensors.items() if not key.startswith("visual.")})
    found = []
    for source, stored in ((folder / "model", weights), (gguf, gguf)):
        imports(tools, source, folder / "text.mir", "--part=text")
        printed = run(tools / "mllm-interp", folder / "text.mir", f"--weights={stored}", f"--input=ids={folder}/ids.npy",
                      f"--expect=%logits={folder}/wanted.npy", f"--tolerance=abs={TOLERANCE * np.abs(wanted).max():g},top1=1")
        found.append(hashes(printed))
    if found[0] != found[1]:
        raise AssertionError("the GGUF file has other logits than the folder")


def check_batch(tools, name, folder, model, weights):
    """Images of several sequences in one run, and a number of image tokens that the grids do not have."""
    ids, grids, seconds = prompt_of("images")
    config = CASES[name]
    width = 3 * 2 * config["vision_config"]["patch_size"] ** 2
    rng = np.random.default_rng(9)
    images = [rng.standard_normal((math.prod(grid), width)).astype(np.float32) for grid in grids]
    text = rng.integers(0, IMAGE, len(ids))
    late = np.roll(ids, 2)  # the same images, elsewhere
    batch, parts = np.stack([text, ids, late]), [([], [], []), (images, grids, seconds), (images, grids, seconds)]
    wanted = np.stack([model.answers(row, *part) for row, part in zip(batch, parts)])
    np.save(folder / "ids.npy", batch)
    np.save(folder / "img.npy", np.concatenate(images + images))
    np.save(folder / "grids.npy", np.array(grids + grids, np.int64))
    np.save(folder / "seconds.npy", np.array(seconds + seconds, np.float32))
    np.save(folder / "wanted.npy", wanted)
    names = ["ids", "img", "grids"] + (["seconds"] if name == "qwen2_5_vl" else [])
    inputs = [f"--input={each}={folder}/{each}.npy" for each in names]
    command = [tools / "mllm-interp", folder / "model.mir", f"--weights={weights}", *inputs]
    run(*command, f"--expect=%logits={folder}/wanted.npy", f"--tolerance=abs={TOLERANCE * np.abs(wanted).max():g},top1=1")
    for changed in (np.where(batch == IMAGE, 1, batch), np.where(batch == 92, IMAGE, batch)):
        np.save(folder / "ids.npy", changed)
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 1 or "error[MIR0803]: gather" not in done.stderr:
            raise AssertionError(f"expected MIR0803:\n{done.stderr}")


if __name__ == "__main__":
    sys.exit(run_trials(check, CASES))

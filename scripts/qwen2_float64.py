#!/usr/bin/env python3
"""Evaluates the decoder of testdata/examples/qwen2_tiny in float64, written from the formulas alone.

FOLDER holds model.safetensors, ids.npy and positions.npy (Int64 [1, S]); the logits [1, S, V] go to
expected_logits.npy in float64. Everything that is not a tensor comes from the file's metadata.
Every run also evaluates the tokens one at a time with a cache and requires the same logits, and
checks the rotary tables against their formula.

usage: qwen2_float64.py FOLDER                 write expected_logits.npy
       qwen2_float64.py FOLDER --decode N --into OUT
                                               write logits-0.npy (prompt) to logits-N.npy, each next
                                               token the likeliest of the step before
       qwen2_float64.py FOLDER --draw N --random KEY COUNTER --top-p P --top-k K --temperature T
                                               print N tokens after the prompt, each drawn by the
                                               numbers of this state
       qwen2_float64.py FOLDER --prompt TEXT   write ids.npy (bytes of TEXT) and positions.npy first
       qwen2_float64.py FOLDER --check         compare with expected_logits.npy instead
"""

import argparse
import json
import struct
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import philox  # noqa: E402

SAME = 1e-12  # how far two float64 evaluations of one formula may lie apart, relative to the range


def read_safetensors(path):
    """The F32 tensors of a file, widened to float64, and its metadata."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] != "F32":
            raise ValueError(f"{name} is {entry['dtype']}, expected F32")
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
        tensors[name] = values.astype(np.float64)
    return tensors, metadata


def linear(tensors, path, x):
    y = x @ tensors[f"{path}.weight"].T
    bias = tensors.get(f"{path}.bias")
    return y if bias is None else y + bias


def rms_norm(x, weight, epsilon):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * weight


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def rotate(x, sin, cos):
    """Pairs (d, d + D/2) of each head of [heads, S, D] turned by the angles of its position."""
    half = x.shape[-1] // 2
    low, high = x[..., :half], x[..., half:]
    sin, cos = sin[:, :half], cos[:, :half]
    return np.concatenate([low * cos - high * sin, low * sin + high * cos], axis=-1)


class Decoder:
    """Holds the keys and values of all tokens it has seen."""

    def __init__(self, tensors, metadata):
        self.tensors = tensors
        self.epsilon = float(metadata["rms_epsilon"])
        self.theta = float(metadata["rope_theta"])
        self.head_dim = tensors["rope.sin.weight"].shape[1]
        self.layers = len({name.split(".")[2] for name in tensors if name.startswith("model.layers.")})
        self.cache = [(None, None)] * self.layers

    def check_tables(self):
        """The stored tables are the formula, rounded once to float32."""
        positions = np.arange(self.tensors["rope.sin.weight"].shape[0], dtype=np.float64)
        pair = np.arange(self.head_dim // 2, dtype=np.float64)
        angles = positions[:, None] * self.theta ** (-2 * pair / self.head_dim)
        angles = np.concatenate([angles, angles], axis=1)
        for name, function in (("rope.sin", np.sin), ("rope.cos", np.cos)):
            worst = np.max(np.abs(self.tensors[f"{name}.weight"] - function(angles)))
            if worst > 2.0 ** -25 * (1 + 1e-6):
                raise ValueError(f"{name}.weight is {worst:.3g} away from its formula")

    def heads(self, path, x):
        """[S, heads * D] as [heads, S, D]."""
        return linear(self.tensors, path, x).reshape(len(x), -1, self.head_dim).swapaxes(0, 1)

    def attention(self, layer, path, x, sin, cos):
        q = rotate(self.heads(f"{path}.q_proj", x), sin, cos)
        k = rotate(self.heads(f"{path}.k_proj", x), sin, cos)
        v = self.heads(f"{path}.v_proj", x)
        past_k, past_v = self.cache[layer]
        if past_k is not None:
            k, v = np.concatenate([past_k, k], axis=1), np.concatenate([past_v, v], axis=1)
        self.cache[layer] = (k, v)
        group = q.shape[0] // k.shape[0]
        scores = q @ np.repeat(k, group, axis=0).swapaxes(1, 2) / np.sqrt(self.head_dim)
        last_key = np.arange(len(x))[:, None] + (k.shape[1] - len(x))
        scores = np.where(np.arange(k.shape[1]) <= last_key, scores, -np.inf)
        mixed = softmax(scores) @ np.repeat(v, group, axis=0)
        return linear(self.tensors, f"{path}.o_proj", mixed.swapaxes(0, 1).reshape(len(x), -1))

    def feed_forward(self, path, x):
        gate = linear(self.tensors, f"{path}.gate_proj", x)
        up = linear(self.tensors, f"{path}.up_proj", x)
        return linear(self.tensors, f"{path}.down_proj", gate / (1 + np.exp(-gate)) * up)

    def norm(self, path, x):
        return rms_norm(x, self.tensors[f"{path}.weight"], self.epsilon)

    def hidden(self, x, sin, cos):
        """States [S, E] after the last norm from embeddings [S, E] and rows of the tables."""
        for layer in range(self.layers):
            path = f"model.layers.{layer}"
            a = self.norm(f"{path}.input_layernorm", x)
            x = x + self.attention(layer, f"{path}.self_attn", a, sin, cos)
            x = x + self.feed_forward(f"{path}.mlp", self.norm(f"{path}.post_attention_layernorm", x))
        return self.norm("model.norm", x)

    def step(self, ids, positions):
        """Logits [S, V] of the next tokens."""
        x, sin, cos = (self.tensors[f"{name}.weight"][rows] for name, rows in
                       (("model.embed_tokens", ids), ("rope.sin", positions), ("rope.cos", positions)))
        return linear(self.tensors, "lm_head", self.hidden(x, sin, cos))


def close(a, b):
    return a.shape == b.shape and np.max(np.abs(a - b)) <= SAME * np.max(np.abs(b))


def evaluate(folder):
    """Logits [1, S, V] of the prompt in the folder."""
    tensors, metadata = read_safetensors(folder / "model.safetensors")
    ids, positions = np.load(folder / "ids.npy")[0], np.load(folder / "positions.npy")[0]
    whole = Decoder(tensors, metadata)
    whole.check_tables()
    logits = whole.step(ids, positions)
    stepwise = Decoder(tensors, metadata)
    steps = [stepwise.step(ids[i:i + 1], positions[i:i + 1]) for i in range(len(ids))]
    if not close(np.concatenate(steps), logits):
        raise ValueError("token by token gives other logits than all at once")
    return logits[None]


def decode(folder, steps, out):
    """Writes the logits of the prompt and of `steps` tokens, each the likeliest of the step before.

    A choice that errors far below the tolerance of a comparison could turn round is refused.
    """
    tensors, metadata = read_safetensors(folder / "model.safetensors")
    ids, positions = np.load(folder / "ids.npy")[0], np.load(folder / "positions.npy")[0]
    decoder = Decoder(tensors, metadata)
    tokens = []
    for step in range(steps + 1):
        logits = decoder.step(ids, positions)
        np.save(out / f"logits-{step}.npy", logits[None])
        second, first = np.sort(logits[-1])[-2:]
        if first - second < 1e-4:
            raise ValueError(f"the two largest logits of step {step} are {first - second:.3g} apart")
        ids, positions = np.array([np.argmax(logits[-1])]), positions[-1:] + 1
        tokens.append(int(ids[0]))
    print("tokens", *tokens)


def drawn(logits, number, top_p, top_k, temperature):
    """The token that a number from 0 to 1 draws, and its distance to a number that draws another."""
    best = np.argsort(-logits, kind="stable")[:top_k]
    shares = softmax(logits[best] / temperature)
    kept = np.cumsum(shares) - shares < top_p
    sums = np.cumsum(np.where(kept, shares, 0))
    place = int(np.sum(sums <= number * sums[-1]))
    edges = np.concatenate([np.abs(sums[:-1] / sums[-1] - number), np.abs(np.cumsum(shares) - shares - top_p)])
    return int(best[place]), float(np.min(edges))


def draw(folder, steps, state, **options):
    """Prints tokens that the numbers of a state draw; a draw that small errors could turn is refused."""
    tensors, metadata = read_safetensors(folder / "model.safetensors")
    ids, positions = np.load(folder / "ids.npy")[0], np.load(folder / "positions.npy")[0]
    decoder = Decoder(tensors, metadata)
    tokens = []
    for step in range(steps):
        (number,), state = philox.uniforms(state, 1)
        token, margin = drawn(decoder.step(ids, positions)[-1], number, **options)
        if margin < 1e-5:
            raise ValueError(f"the draw of step {step} is {margin:.3g} from another token")
        ids, positions = np.array([token]), positions[-1:] + 1
        tokens.append(token)
    print("tokens", *tokens)


def write_prompt(folder, text):
    ids = np.frombuffer(text.encode(), np.uint8).astype(np.int64)[None]
    np.save(folder / "ids.npy", ids)
    np.save(folder / "positions.npy", np.arange(ids.shape[1], dtype=np.int64)[None])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--prompt", help="write ids.npy (bytes of this text) and positions.npy first")
    parser.add_argument("--check", action="store_true", help="compare with expected_logits.npy instead")
    parser.add_argument("--decode", type=int, metavar="N", help="decode N tokens after the prompt")
    parser.add_argument("--draw", type=int, metavar="N", help="draw N tokens after the prompt")
    parser.add_argument("--random", type=int, nargs=2, metavar=("KEY", "COUNTER"), help="the state of --draw")
    parser.add_argument("--top-p", type=float, default=1.0)
    parser.add_argument("--top-k", type=int, default=64)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--into", type=Path, help="where --decode writes its logits")
    arguments = parser.parse_args()
    expected = arguments.folder / "expected_logits.npy"
    try:
        if arguments.decode is not None:
            decode(arguments.folder, arguments.decode, arguments.into)
            return 0
        if arguments.draw is not None:
            draw(arguments.folder, arguments.draw, arguments.random, top_p=arguments.top_p,
                 top_k=arguments.top_k, temperature=arguments.temperature)
            return 0
        if arguments.prompt:
            write_prompt(arguments.folder, arguments.prompt)
        logits = evaluate(arguments.folder)
        if not arguments.check:
            np.save(expected, logits)
        elif not close(logits, np.load(expected)):
            raise ValueError(f"{expected} holds other logits")
    except (OSError, ValueError, KeyError) as error:
        print(f"qwen2_float64.py: {error}", file=sys.stderr)
        return 1
    print(f"{'checked' if arguments.check else 'wrote'} {expected}: {list(logits.shape)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

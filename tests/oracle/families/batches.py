#!/usr/bin/env python3
"""Runs sequences of unequal length as one batch and alone: the logits must have the same bits."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

LENGTHS = [3, 9, 1]
COMMON = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
          "num_key_value_heads": 2, "max_position_embeddings": 64}
CONFIGS = {
    "Gemma2ForCausalLM": {"head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 8},
    "LlamaForCausalLM": {},
    "MistralForCausalLM": {"sliding_window": 4},
}


class Runner:
    def __init__(self, tools: Path, folder: Path, kernels: str, threads: int):
        self.tools, self.folder = tools, folder
        threaded = [f"--threads={threads}"] if kernels != "ref" else []
        self.options = [f"--kernels={kernels}", *threaded, "-w", "random:7"]

    def logits(self, module: Path, runs: list[dict[str, np.ndarray]]) -> np.ndarray:
        """The logits of the last of one or two runs."""
        command = [self.tools / "mllm-interp", module, *self.options]
        for number, inputs in enumerate(runs):
            for name, values in inputs.items():
                file = self.folder / f"{number}_{name}.npy"
                np.save(file, values)
                command.append(f"--{'feed' if number else 'input'}={name}={file}")
        out = self.folder / "out.npz"
        subprocess.run([*command, *(["--then=1"] if len(runs) > 1 else []), "-o", out], check=True, stdout=subprocess.DEVNULL)
        return np.load(out)["logits"]


def compare(runner: Runner, alone: Path, batch: Path, decodes: bool) -> bool:
    random = np.random.default_rng(1)
    texts = [random.integers(0, 50, length + 1) for length in LENGTHS]
    longest = max(LENGTHS)
    ids, positions = np.zeros((len(texts), longest), np.int64), -np.ones((len(texts), longest), np.int64)
    for row, (text, length) in enumerate(zip(texts, LENGTHS)):
        ids[row, longest - length:] = text[:length]
        positions[row, longest - length:] = np.arange(length)
    runs = [{"ids": ids, "positions": positions}]
    if decodes:
        runs.append({"ids": np.array([text[-1:] for text in texts]), "positions": np.array(LENGTHS)[:, None]})
    together = runner.logits(batch, runs)
    for row, (text, length) in enumerate(zip(texts, LENGTHS)):
        own = [{"ids": text[None, :length]}] + ([{"ids": text[None, length:]}] if decodes else [])
        wanted = runner.logits(alone, own)
        found = np.ascontiguousarray(together[row:row + 1, -wanted.shape[1]:])
        if not np.array_equal(wanted.view(np.uint32), found.view(np.uint32)):
            print(f"{alone.stem} {runner.options} decodes={decodes}: sequence {row} differs by {np.abs(wanted - found).max()}")
            return False
    return True


def main() -> int:
    tools = Path(sys.argv[1])
    is_good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for family, config in CONFIGS.items():
            (folder / family).mkdir()
            (folder / family / "config.json").write_text(json.dumps({"architectures": [family], **COMMON, **config}))
            alone, batch = folder / f"{family}.mir", folder / f"{family}_batch.mir"
            subprocess.run([tools / "mllm-import", folder / family, "-o", alone], check=True, stderr=subprocess.DEVNULL)
            subprocess.run([tools / "mllm-opt", "--passes=inline,eliminate-unused-graphs,batch-sequences", alone, "-o", batch],
                           check=True)
            for kernels, threads in (("ref", 1), ("fast", 1), ("fast", 3)):
                runner = Runner(tools, folder, kernels, threads)
                for decodes in (False, True):
                    is_good &= compare(runner, alone, batch, decodes)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())

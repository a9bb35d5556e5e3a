"""Runs upstream's dumps of a small model with upstream's weights and compares with its outputs.

usage: upstream_numbers.py TOOLS FOLDER

FOLDER is the optional corpus' `numerics`; where it is absent the test is skipped. Upstream's
exponential is approximate, hence the bound. The graph dump, the dump with frees and the lowered
program must give the same bits.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

MODEL = "qwen_kvcacheop_tiny"
STAGES = ["00_raw", "03_EagerMemorySolver", "11_ProgramIntrinsicIdIndex"]
BOUND = 2e-4
SKIPPED = 77


def tensors(folder: Path) -> dict[str, np.ndarray]:
    """Every tensor of the model by its name in the manifest."""
    found = {}
    for entry in json.loads((folder / MODEL / "manifest.json").read_text()):
        assert entry["dtype"] == "f32"
        found[entry["name"]] = np.fromfile(folder / entry["file"], dtype="<f4").reshape(entry["shape"])
    return found


def run(tools: str, dump: Path, work: Path) -> np.ndarray:
    """The output for the prefill step."""
    out = work / "out.npy"
    subprocess.run(
        [f"{tools}/mllm-interp", dump, "--assume=rms_eps=1e-6", f"--weights={work}/weights.npz",
         *(f"--input={i}={work}/{i}.npy" for i in range(3)), f"--output={out}", "--print-outputs=no"],
        check=True)
    return np.load(out)


def main(tools: str, folder: Path) -> int:
    if not (folder / MODEL).is_dir():
        print(f"skipped: there is no {folder}", file=sys.stderr)
        return SKIPPED
    model = tensors(folder)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        np.savez(work / "weights.npz", **{k[2:]: v for k, v in model.items() if k.startswith("w.")})
        for i, key in enumerate(["in0_embeddings", "in1_sin", "in2_cos"]):
            np.save(work / f"{i}.npy", model[f"prefill.{key}"])
        outputs = [run(tools, folder / MODEL / f"prefill.{stage}.mir", work) for stage in STAGES]
    error = float(np.abs(outputs[0] - model["prefill.out0_hidden"]).max())
    same = all(np.array_equal(outputs[0].view(np.uint32), each.view(np.uint32)) for each in outputs)
    print(f"largest difference from upstream {error:.3g}, bound {BOUND:g}; "
          f"stages {'have the same bits' if same else 'differ'}")
    return 0 if error <= BOUND and same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))

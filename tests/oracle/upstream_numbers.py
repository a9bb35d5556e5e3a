"""Runs upstream's dumps of a small model with upstream's weights and compares with its outputs.

usage: upstream_numbers.py TOOLS FOLDER

FOLDER is the optional corpus' `numerics`; where it is absent the test is skipped. Upstream's
exponential is approximate, hence the bound; an evaluation of the model's formulas in float64 (by
scripts/qwen2_float64.py, which knows nothing of the dumps) is met much closer. The graph dump, the dump with frees and the lowered
program must give the same bits. They were traced for eight tokens; with that extent made a symbol
they then take two more tokens through the cache.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

MODEL = "qwen_kvcacheop_tiny"
STAGES = ["00_raw", "03_EagerMemorySolver", "11_ProgramIntrinsicIdIndex"]
BOUND = 2e-4
FLOAT64_BOUND = 1e-5
EPSILON = 1e-6  # upstream's; the raw dump lost it
SKIPPED = 77


def tensors(folder: Path) -> dict[str, np.ndarray]:
    """Every tensor of the model by its name in the manifest."""
    found = {}
    for entry in json.loads((folder / MODEL / "manifest.json").read_text()):
        assert entry["dtype"] == "f32"
        found[entry["name"]] = np.fromfile(folder / entry["file"], dtype="<f4").reshape(entry["shape"])
    return found


def run(tools: str, dump: Path, work: Path) -> list[np.ndarray]:
    """The outputs of prefill and of the step after it."""
    subprocess.run(
        [f"{tools}/mllm-interp", dump, f"--assume=rms_eps={EPSILON}", f"--weights={work}/weights.npz",
         *(f"--symbolic-dim=S@input{i}:1" for i in range(3)),
         *(f"--input={i}={work}/prefill.{i}.npy" for i in range(3)), "--then=1",
         *(f"--feed={i}={work}/decode.{i}.npy" for i in range(3)),
         f"--output={work}/out{{run}}.npy", "--print-outputs=no"],
        check=True)
    return [np.load(work / f"out{i}.npy") for i in range(2)]


def float64_steps(model: dict[str, np.ndarray], decoded) -> list[np.ndarray]:
    """Hidden states of prefill and of the step after it, from the formulas."""
    script = Path(__file__).resolve().parents[2] / "scripts" / "qwen2_float64.py"
    spec = importlib.util.spec_from_file_location("qwen2_float64", script)
    formulas = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(formulas)
    weights = {k[2:]: v.astype(np.float64) for k, v in model.items() if k.startswith("w.")}
    weights["rope.sin.weight"] = model["prefill.in1_sin"][0]  # tells the extent of a head
    decoder = formulas.Decoder(weights, {"rms_epsilon": EPSILON, "rope_theta": 0})
    keys = ["in0_embeddings", "in1_sin", "in2_cos"]
    return [decoder.hidden(*(values[0].astype(np.float64) for values in inputs))[None]
            for inputs in ([model[f"prefill.{key}"] for key in keys], [decoded(key) for key in keys])]


def main(tools: str, folder: Path) -> int:
    if not (folder / MODEL).is_dir():
        print(f"skipped: there is no {folder}", file=sys.stderr)
        return SKIPPED
    model = tensors(folder)

    def decoded(key: str) -> np.ndarray:
        return np.concatenate([model[f"decode{i}.{key}"] for i in range(2)], axis=1)

    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        np.savez(work / "weights.npz", **{k[2:]: v for k, v in model.items() if k.startswith("w.")})
        for i, key in enumerate(["in0_embeddings", "in1_sin", "in2_cos"]):
            np.save(work / f"prefill.{i}.npy", model[f"prefill.{key}"])
            np.save(work / f"decode.{i}.npy", decoded(key))
        stages = [run(tools, folder / MODEL / f"prefill.{stage}.mir", work) for stage in STAGES]
    exact = float64_steps(model, decoded)
    good = True
    expected = {"prefill": model["prefill.out0_hidden"], "decoding": decoded("out0_hidden")}
    for step, (name, values) in enumerate(expected.items()):
        first = stages[0][step]
        error = float(np.abs(first - values).max())
        from_exact = float(np.abs(first - exact[step]).max())
        same = all(np.array_equal(first.view(np.uint32), each[step].view(np.uint32)) for each in stages)
        print(f"{name}: largest difference from upstream {error:.3g}, bound {BOUND:g}, "
              f"from float64 {from_exact:.3g}, bound {FLOAT64_BOUND:g}; "
              f"stages {'have the same bits' if same else 'differ'}")
        good = good and error <= BOUND and from_exact <= FLOAT64_BOUND and same
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))

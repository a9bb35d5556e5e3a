#!/usr/bin/env python3
"""Checkpoints that mllm-import reads compute what NumPy computes in float64: prompts, steps, GGUF files.

usage: families.py TOOLS [CASE...]

For each case of checkpoints.py: the logits of a prompt, those of the same tokens one by one, and those of the GGUF file
of the same model, which must have the same bits.
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import checkpoints
from reference import Decoder, Encoder, Recurrent
from trials import run_trials

TOKENS = 11
PROMPT = 4
TOLERANCE = 2e-5  # of the largest logit
# GGUF files cannot state these configs: a scale of scores, the layers that a window begins with, the form of GELU.
NOT_IN_GGUF = {"gemma2-scalar", "qwen2-window", "starcoder2-erf"}

# GGUF files round numbers of these configs to Float32: the factor of rotary tables.
ROUNDED_IN_GGUF = {"phi3-longrope"}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(str(word) for word in command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def compared(tools, module, weights, ids, wanted, folder, *options):
    """Runs a module with a prompt, and then with the likeliest token for each further part of `wanted`; returns what it
    prints. The outputs must be near `wanted`."""
    np.save(folder / "ids.npy", np.array(ids, np.int64)[None])
    for number, part in enumerate(wanted):
        np.save(folder / f"wanted-{number}.npy", part[None])
    bound = TOLERANCE * max(np.abs(part).max() for part in wanted)
    steps = len(wanted) - 1
    then = [f"--then={steps}", "--feed=ids=argmax(%logits)"] if steps else []
    number = "{run}" if steps else "0"
    return run(tools / "mllm-interp", module, f"--weights={weights}", f"--input=ids={folder}/ids.npy",
               f"--expect=%logits={folder}/wanted-{number}.npy", f"--tolerance=abs={bound:g},top1=1", *then, *options)


def hashes(text):
    return re.findall(r"hash ([0-9a-f]{16})", text)


def imports(tools, source, module, *options):
    """Imports a model; its config has no key that the family does not read."""
    done = subprocess.run([tools / "mllm-import", source, "-o", module, *options], capture_output=True, text=True)
    if done.returncode != 0 or "warning" in done.stderr:
        raise AssertionError(f"mllm-import {source}\n{done.stderr}")


def check_encoder(tools, config, tensors, folder):
    """Two sequences in one run: the outputs of each are those of NumPy."""
    rng = np.random.default_rng(2)
    ids = rng.integers(0, config["vocab_size"], (2, TOKENS))
    types = np.sort(rng.integers(0, config["type_vocab_size"], ids.shape), axis=1)
    encoder = Encoder(config, tensors)
    rows = [encoder.outputs(*row) for row in zip(ids, types)]
    weights = checkpoints.write_folder(folder / "model", config, tensors)
    imports(tools, folder / "model", folder / "model.mir")
    np.save(folder / "ids.npy", ids)
    np.save(folder / "types.npy", types)
    expected = []
    for output in rows[0]:
        np.save(folder / f"{output}.npy", np.stack([row[output] for row in rows]))
        expected.append(f"--expect=%{output}={folder}/{output}.npy")
    for kernels in ("ref", "fast"):
        run(tools / "mllm-interp", folder / "model.mir", f"--weights={weights}", f"--input=ids={folder}/ids.npy",
            f"--input=types={folder}/types.npy", *expected, f"--tolerance=abs={TOLERANCE:g},rel={TOLERANCE:g}",
            f"--kernels={kernels}")
    check_padding(tools, config, encoder, weights, ids, types, folder)
    gguf = checkpoints.write_gguf(folder / "model.gguf", config, tensors)
    imports(tools, gguf, folder / "gguf.mir")
    command = [f"--input=ids={folder}/ids.npy", f"--input=types={folder}/types.npy", "--kernels=ref"]
    states = np.stack([encoder.states(*row) for row in zip(ids, types)])
    np.save(folder / "states.npy", states)
    printed = run(tools / "mllm-interp", folder / "gguf.mir", f"--weights={gguf}", *command,
                  f"--expect=%states={folder}/states.npy", f"--tolerance=abs={TOLERANCE:g},rel={TOLERANCE:g}")
    if config["architectures"] == ["BertModel"]:
        same = run(tools / "mllm-interp", folder / "model.mir", f"--weights={weights}", *command)
        if hashes(same)[0] != hashes(printed)[0]:
            raise AssertionError("the GGUF file has other states than the safetensors file")
    return "states in GGUF"


def check_padding(tools, config, encoder, weights, ids, types, folder):
    """A short sequence beside a longer one: each has the bits that it has alone."""
    imports(tools, folder / "model", folder / "masked.mir", "--padding")
    mask = np.ones(ids.shape, np.int64)
    mask[0, PROMPT:] = 0
    output = next(iter(encoder.outputs(ids[0], types[0])))
    files = {"ids": ids, "types": types, "mask": mask}
    for kernels in ("ref", "fast"):
        found = []
        for rows, length in ((slice(0, 2), TOKENS), (slice(0, 1), PROMPT), (slice(1, 2), TOKENS)):
            for name, values in files.items():
                np.save(folder / f"part-{name}.npy", values[rows, :length])
            run(tools / "mllm-interp", folder / "masked.mir", f"--weights={weights}",
                *(f"--input={name}={folder}/part-{name}.npy" for name in files),
                f"--output={output}={folder}/found.npy", f"--kernels={kernels}")
            found.append(np.load(folder / "found.npy"))
        both, short, long = found
        wanted = encoder.outputs(ids[0, :PROMPT], types[0, :PROMPT])[output]
        if not np.allclose(short[0], wanted, rtol=TOLERANCE, atol=TOLERANCE):
            raise AssertionError(f"{kernels}: the short sequence differs from NumPy")
        if not np.array_equal(both[0, :PROMPT], short[0]) or not np.array_equal(both[1], long[0]):
            raise AssertionError(f"{kernels}: a sequence has other bits in a batch than alone")


def check_recurrent(tools, folder):
    """A family from a file: a prompt, and parts of it that go on from the states of the parts before."""
    config = checkpoints.RECURRENT
    tensors = checkpoints.random_tensors(config, 1)
    model = Recurrent(config, tensors)
    ids = np.random.default_rng(2).integers(0, config["vocab_size"], PROMPT)
    for _ in range(TOKENS - PROMPT):
        ids = np.append(ids, np.argmax(model.logits(ids)[-1]))
    wanted = model.logits(ids)
    weights = checkpoints.write_folder(folder / "model", config, tensors)
    imports(tools, folder / "model", folder / "model.mir", f"--family={Path(__file__).parent / 'delta.mir'}")
    for kernels in ("ref", "fast"):
        option = f"--kernels={kernels}"
        compared(tools, folder / "model.mir", weights, ids, [wanted], folder, option)
        rows = [wanted[:PROMPT]] + [wanted[i:i + 1] for i in range(PROMPT, TOKENS)]
        compared(tools, folder / "model.mir", weights, ids[:PROMPT], rows, folder, option)
    return "no GGUF"


def check(tools, name, folder):
    if name == "recurrent":
        return check_recurrent(tools, folder)
    config = checkpoints.CASES[name]
    tensors = checkpoints.random_tensors(config, 1)
    if config["model_type"] == "bert":
        return check_encoder(tools, config, tensors, folder)
    ids = np.random.default_rng(2).integers(0, config["vocab_size"], PROMPT)
    reading = dict(config)
    parameters = reading.pop("rope_parameters", {})
    reading.setdefault("rope_theta", parameters.get("rope_theta"))
    if "type" in (reading.get("rope_scaling") or {}):
        reading["rope_scaling"] = {"rope_type": reading["rope_scaling"]["type"], **reading["rope_scaling"]}
    decoder = Decoder(reading, tensors)
    for _ in range(TOKENS - PROMPT):
        ids = np.append(ids, np.argmax(decoder.logits(ids)[-1]))
    wanted = decoder.logits(ids)
    stored = checkpoints.with_fused_experts(tensors) if name.endswith("fused") else tensors
    weights = checkpoints.write_folder(folder / "model", config, stored, shards=2 if name == "llama" else 1)
    imports(tools, folder / "model", folder / "model.mir")
    printed = {}
    for kernels in ("ref", "fast"):
        option = f"--kernels={kernels}"
        printed[kernels] = compared(tools, folder / "model.mir", weights, ids, [wanted], folder, option)
        rows = [wanted[:PROMPT]] + [wanted[i:i + 1] for i in range(PROMPT, TOKENS)]
        compared(tools, folder / "model.mir", weights, ids[:PROMPT], rows, folder, option)
    if config["model_type"] not in checkpoints.GGUF_ARCHITECTURES or name in NOT_IN_GGUF:
        return "no GGUF"
    gguf = checkpoints.write_gguf(folder / "model.gguf", reading, tensors)
    imports(tools, gguf, folder / "gguf.mir")
    same = compared(tools, folder / "gguf.mir", gguf, ids, [wanted], folder, "--kernels=ref")
    if name in ROUNDED_IN_GGUF:
        return "also as GGUF"
    if hashes(same) != hashes(printed["ref"]):
        raise AssertionError("the GGUF file has other logits than the safetensors file")
    return "GGUF: same bits"


if __name__ == "__main__":
    sys.exit(run_trials(check, [*checkpoints.CASES, "recurrent"]))

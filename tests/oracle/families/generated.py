#!/usr/bin/env python3
"""mllm-run generates the tokens that NumPy finds likeliest in float64, also after a session was saved and loaded.

usage: generated.py TOOLS [CASE...]

For each case of checkpoints.py, with both sets of kernels: the tokens of a prompt, of two sessions one after the other,
and of the GGUF file of the same model.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

import checkpoints
from families import NOT_IN_GGUF, PROMPT
from reference import Decoder
from trials import run_trials

TOKENS = 14
CUT = 5  # tokens before the session is saved


def write_tokenizer(folder, size):
    """A tokenizer whose token number i is the word t<i>."""
    model = {"type": "WordLevel", "vocab": {f"t{i}": i for i in range(size)}, "unk_token": "t0"}
    (folder / "tokenizer.json").write_text(json.dumps({"model": model, "pre_tokenizer": {"type": "WhitespaceSplit"}}))


def generated(tools, model, *options):
    command = [tools / "mllm-run", model, "--json", "--ignore-end", *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(str(word) for word in command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)["answers"][0]["tokens"]


def check(tools, name, folder):
    config = checkpoints.CASES[name]
    tensors = checkpoints.random_tensors(config, 1)
    reading = dict(config)
    parameters = reading.pop("rope_parameters", {})
    reading.setdefault("rope_theta", parameters.get("rope_theta"))
    if "type" in (reading.get("rope_scaling") or {}):
        reading["rope_scaling"] = {"rope_type": reading["rope_scaling"]["type"], **reading["rope_scaling"]}
    decoder = Decoder(reading, tensors)
    ids = np.random.default_rng(2).integers(0, config["vocab_size"], PROMPT)
    prompt = "--prompt=" + " ".join(f"t{each}" for each in ids)
    for _ in range(TOKENS):
        ids = np.append(ids, np.argmax(decoder.logits(ids)[-1]))
    wanted = [int(each) for each in ids[PROMPT:]]
    model = folder / "model"
    checkpoints.write_folder(model, config, tensors)
    write_tokenizer(model, config["vocab_size"])

    def require(found, what):
        if found != wanted:
            raise AssertionError(f"{what}: {found}, NumPy has {wanted}")

    for kernels in ("ref", "fast"):
        option, session = f"--kernels={kernels}", folder / f"{kernels}.session"
        require(generated(tools, model, prompt, option, f"--max-tokens={TOKENS}"), kernels)
        begin = generated(tools, model, prompt, option, f"--max-tokens={CUT}", f"--save-session={session}")
        end = generated(tools, model, option, f"--max-tokens={TOKENS - CUT}", f"--load-session={session}")
        require(begin + end, f"{kernels}, in two sessions")
    if config["model_type"] not in checkpoints.GGUF_ARCHITECTURES or name in NOT_IN_GGUF:
        return "no GGUF"
    gguf = checkpoints.write_gguf(folder / "model.gguf", reading, tensors)
    require(generated(tools, gguf, prompt, f"--max-tokens={TOKENS}", f"--tokenizer={model}"), "GGUF")
    return "also as GGUF"


if __name__ == "__main__":
    sys.exit(run_trials(check, checkpoints.DECODERS))

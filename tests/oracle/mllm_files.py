#!/usr/bin/env python3
"""Writes `.mllm` files of both versions and holds what mllm-interp reads from them to the bytes.

The tensors are random ones of every type that NPY can hold, or those of an upstream model in the
folder NUMERICS; without that folder the test is skipped. Interleaved blocks, MXFP4 and MIR_Q4_A32 are
held to an evaluation in NumPy.

usage: mllm_files.py TOOLS [NUMERICS]
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from ggml_blocks import nibbles, random_blocks, values
from read_parameters import read_parameters
from tensor_files import mllm_v1, mllm_v2

NUMPY_TYPES = {"Float32": "<f4", "Float16": "<f2", "Int8": "i1", "Int16": "<i2", "Int32": "<i4", "Int64": "<i8",
               "UInt8": "u1", "UInt16": "<u2", "UInt32": "<u4", "UInt64": "<u8"}


def random_tensors():
    random = np.random.default_rng(5)
    shapes = [(3,), (2, 5), (1, 2, 3, 1), (7, 1)]  # odd byte counts: what follows is not aligned
    return [(f"layer.{i}.{kind}", kind, shape,
             random.integers(0, 64, shape).astype(NUMPY_TYPES[kind]).tobytes())
            for i, kind in enumerate(NUMPY_TYPES) for shape in [shapes[i % len(shapes)]]]


def interleaved(rows, codes, run, mask):
    """Blocks of successive rows side by side, and the values of Q4_0 or Q8_0 blocks that they were."""
    random = np.random.default_rng(7)
    plain = np.frombuffer(random_blocks("GGUF_Q4_0" if codes == 16 else "GGUF_Q8_0", 2 * rows * 3, random),
                          np.uint8).reshape(2, rows, 3, 2 + codes)
    scales = plain[..., :2].transpose(0, 2, 1, 3).reshape(2, 3, 2 * rows)
    turns = plain[..., 2:].reshape(2, rows, 3, codes // run, run).transpose(0, 2, 3, 1, 4) ^ mask
    data = np.concatenate([scales, turns.reshape(2, 3, rows * codes)], axis=2)
    return data.tobytes(), values("GGUF_Q4_0" if codes == 16 else "GGUF_Q8_0", plain.tobytes())


def mxfp4(count):
    blocks = np.random.default_rng(8).integers(0, 256, (count, 17), dtype=np.uint8)
    blocks[:, 16] = blocks[:, 16] % 240 + 1
    magnitudes = np.array([0, .5, 1, 1.5, 2, 3, 4, 6])
    codes = nibbles(blocks[:, :16])
    reals = np.where(codes & 8, -1, 1) * magnitudes[codes & 7] * 2.0 ** (blocks[:, 16:].astype(float) - 127)
    return blocks.tobytes(), reals


def mir_q4_a32(count):
    """Scales and terms of such exponents that float64 has every sum exactly."""
    random = np.random.default_rng(9)
    parameters = (random.standard_normal((count, 2)) * 2.0 ** random.integers(-6, 7, (count, 2))).astype("<f4")
    codes = random.integers(0, 256, (count, 16), dtype=np.uint8)
    scale, term = parameters[:, :1].astype(float), parameters[:, 1:].astype(float)
    data = np.concatenate([parameters.view(np.uint8), codes], axis=1)
    return data.tobytes(), (nibbles(codes) - 8) * scale + term


def check_blocks(tools):
    """Blocks that no GGUF file holds, as the numbers that they mean."""
    made = {"GGUF_Q4_0x4": ((8, 96), interleaved(4, 16, 4, 0x88)), "GGUF_Q4_0x8": ((16, 96), interleaved(8, 16, 8, 0x88)),
            "GGUF_Q8_0x4": ((8, 96), interleaved(4, 32, 4, 0)), "MXFP4": ((3, 64), mxfp4(6)),
            "MIR_Q4_A32": ((5, 96), mir_q4_a32(15))}
    tensors = [(kind.lower(), kind, shape, data) for kind, (shape, (data, _)) in made.items()]
    for contents in (mllm_v1(tensors), mllm_v2(tensors)):
        Path("w.mllm").write_bytes(contents)
        outputs = read_parameters(tools, "w.mllm", [(name, "Float32", shape) for name, _, shape, _ in tensors])
        for name, kind, shape, _ in tensors:
            wanted = made[kind][1][1].astype("<f4").reshape(shape)
            if outputs[name].tobytes() != wanted.tobytes():
                sys.exit(f"blocks of {kind} were read differently")
    print(f"{len(tensors)} tensors of blocks as computed")


def upstream_tensors(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    return [(entry["name"].removeprefix("w."), "Float32", tuple(entry["shape"]),
             (folder / Path(entry["file"]).name).read_bytes())
            for entry in manifest if entry["name"].startswith("w.")]


def check(tools, tensors):
    files = {"v1": mllm_v1(tensors), "v2": mllm_v2(tensors, "a model", reserved=3)}
    for version, contents in files.items():
        Path("w.mllm").write_bytes(contents)
        outputs = read_parameters(tools, "w.mllm", [(name, kind, shape) for name, kind, shape, _ in tensors])
        for name, kind, shape, data in tensors:
            read = outputs[name]
            if (read.shape, read.dtype, read.tobytes()) != (shape, NUMPY_TYPES[kind], data):
                sys.exit(f"{version}: tensor '{name}' was read differently")
        print(f"{version}: {len(tensors)} tensors as written")


def main():
    tools = Path(sys.argv[1]).resolve()
    folder = Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    if folder and not (folder / "manifest.json").exists():
        print(f"skipped: there is no {folder}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        check(tools, upstream_tensors(folder) if folder else random_tensors())
        check_blocks(tools)


if __name__ == "__main__":
    main()

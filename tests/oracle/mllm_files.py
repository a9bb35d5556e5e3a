#!/usr/bin/env python3
"""Writes `.mllm` files of both versions and holds what mllm-interp reads from them to the bytes.

The tensors are random ones of every type that NPY can hold, or those of an upstream model in the
folder NUMERICS; without that folder the test is skipped.

usage: mllm_files.py TOOLS [NUMERICS]
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

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


if __name__ == "__main__":
    main()

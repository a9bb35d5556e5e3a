#!/usr/bin/env python3
"""Writes GGUF files and holds what mllm-interp reads from them to an evaluation in NumPy.

Blocks of random bits are dequantised in float64 and rounded to float32 once; the tool must give the
same bits. Plain tensors must come back byte by byte.

usage: gguf_files.py TOOLS
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from ggml_blocks import BLOCKS, random_blocks, values
from read_parameters import read_parameters
from tensor_files import gguf

PLAIN = {"Float32": "<f4", "Float16": "<f2", "Int8": "i1", "Int16": "<i2", "Int32": "<i4", "Int64": "<i8",
         "Float64": "<f8"}


def block_tensors(random):
    for kind, (elements, *_) in BLOCKS.items():
        yield f"blk.{kind}", kind, (2, 3, 8 * elements), random_blocks(kind, 48, random)


def plain_tensors(random):
    for kind, dtype in PLAIN.items():
        yield f"plain.{kind}", kind, (3, 5), random.integers(-99, 99, (3, 5)).astype(dtype).tobytes()
    widths = random.integers(0, 1 << 16, 7, dtype=np.uint16) & 0xBFFF  # no infinities
    yield "plain.BFloat16", "BFloat16", (7,), widths.astype("<u2").tobytes()


def expected(kind, shape, data):
    if kind in BLOCKS:
        return values(kind, data).astype("<f4").reshape(shape)
    if kind == "BFloat16":
        return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4").reshape(shape)
    return np.frombuffer(data, PLAIN[kind]).reshape(shape)


def main():
    tools = Path(sys.argv[1]).resolve()
    random = np.random.default_rng(11)
    tensors = [*block_tensors(random), *plain_tensors(random)]
    asked = [(name, "Float32" if kind in BLOCKS or kind == "BFloat16" else kind, shape)
             for name, kind, shape, _ in tensors]
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for version, alignment in ((3, 32), (2, 8), (3, 1024)):
            Path("w.gguf").write_bytes(gguf(tensors, alignment, version))
            outputs = read_parameters(tools, "w.gguf", asked)
            for name, kind, shape, data in tensors:
                wanted, read = expected(kind, shape, data), outputs[name]
                if (read.shape, read.dtype, read.tobytes()) != (shape, wanted.dtype, wanted.tobytes()):
                    sys.exit(f"version {version}: tensor '{name}' was read differently: "
                             f"{np.sum(wanted != read)} of {wanted.size} elements")
            print(f"version {version}, alignment {alignment}: {len(tensors)} tensors, equal bits")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Evaluates Linear layers that share one input, as TraceFooNetTest does, in float64.

Output i is x W^T + b with the tensors `foo_net.linear_<i>.weight` and `.bias` (0 where there is none)
of WEIGHTS, a safetensors file, and x of INPUT, an .npy file. The outputs go to the .npz archive
OUTPUT as `0`, `1` and so on. With --make the two files are written first, filled from a fixed seed,
with the extents that the dump MODULE registers and passes to @foo_net.

usage: foo_net_numpy.py WEIGHTS INPUT OUTPUT [--make MODULE]
"""

import argparse
import json
import re
import struct
import sys
from pathlib import Path

import numpy as np

from qwen2_float64 import linear, read_safetensors

EXTENTS = r"\(%\d+:tensor<\[([\d, ]+)\], Float32, CPU>"
PARAMETER = re.compile(r"register \(\) -> " + EXTENTS + r"\[@([\w.]+)\]")
CALL = re.compile(r"CallGraphOp @foo_net " + EXTENTS)


def write_safetensors(path, tensors):
    """Float32 tensors, in order, without gaps."""
    header, position = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": values.shape,
                        "data_offsets": [position, position + values.nbytes]}
        position += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in tensors.values():
            file.write(values.astype("<f4").tobytes())


def extents(text):
    return [int(extent) for extent in text.split(",")]


def make_files(weights, source, module):
    text = module.read_text()
    call = CALL.search(text)
    if not call:
        raise ValueError(f"{module} calls no @foo_net")
    random = np.random.default_rng(1)
    tensors = {name: random.uniform(-0.3, 0.3, extents(shape)).astype("<f4")
               for shape, name in PARAMETER.findall(text)}
    write_safetensors(weights, tensors)
    np.save(source, random.uniform(-1, 1, extents(call[1])).astype("<f4"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weights", type=Path)
    parser.add_argument("input", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--make", type=Path, metavar="MODULE", help="write WEIGHTS and INPUT first")
    arguments = parser.parse_args()
    try:
        if arguments.make:
            make_files(arguments.weights, arguments.input, arguments.make)
        tensors, _ = read_safetensors(arguments.weights)
        x = np.load(arguments.input).astype(np.float64)
        layers = sum(name.endswith(".weight") for name in tensors)
        outputs = {str(i): linear(tensors, f"foo_net.linear_{i}", x) for i in range(layers)}
        np.savez(arguments.output, **outputs)
    except (OSError, ValueError, KeyError) as error:
        print(f"foo_net_numpy.py: {error}", file=sys.stderr)
        return 1
    print(f"wrote {arguments.output}: outputs {[list(each.shape) for each in outputs.values()]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

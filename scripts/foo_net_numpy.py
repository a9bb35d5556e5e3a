#!/usr/bin/env python3
"""Evaluates four Linear layers that share one input, as TraceFooNetTest does, in float64.

Output i is x W^T + b with the tensors `foo_net.linear_<i>.weight` and `.bias` of WEIGHTS, a
safetensors file, and x of INPUT, an .npy file. The outputs go to the .npz archive OUTPUT as `0` to
`3`. With --make the two files are written first, filled from a fixed seed: an input of the extents
DIM... and layers with OUT channels.

usage: foo_net_numpy.py WEIGHTS INPUT OUTPUT [--make OUT DIM...]
"""

import argparse
import json
import struct
import sys
from pathlib import Path

import numpy as np

from qwen2_float64 import linear, read_safetensors

LAYERS = 4


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


def make_files(weights, source, out_channels, extents):
    random = np.random.default_rng(1)
    tensors = {}
    for i in range(LAYERS):
        limit = (3 / extents[-1]) ** 0.5
        shape = (out_channels, extents[-1])
        tensors[f"foo_net.linear_{i}.weight"] = random.uniform(-limit, limit, shape).astype("<f4")
        tensors[f"foo_net.linear_{i}.bias"] = random.uniform(-1, 1, out_channels).astype("<f4")
    write_safetensors(weights, tensors)
    np.save(source, random.uniform(-1, 1, extents).astype("<f4"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weights", type=Path)
    parser.add_argument("input", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--make", type=int, nargs="+", metavar=("OUT", "DIM"),
                        help="write WEIGHTS and INPUT first")
    arguments = parser.parse_args()
    try:
        if arguments.make:
            make_files(arguments.weights, arguments.input, arguments.make[0], arguments.make[1:])
        tensors, _ = read_safetensors(arguments.weights)
        x = np.load(arguments.input).astype(np.float64)
        outputs = {str(i): linear(tensors, f"foo_net.linear_{i}", x) for i in range(LAYERS)}
        np.savez(arguments.output, **outputs)
    except (OSError, ValueError, KeyError) as error:
        print(f"foo_net_numpy.py: {error}", file=sys.stderr)
        return 1
    print(f"wrote {arguments.output}: {LAYERS} outputs {list(outputs['0'].shape)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

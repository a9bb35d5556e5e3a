#!/usr/bin/env python3
"""Reads files that mllm-weights wrote, with readers written from the description of the formats.

Random tensors go through NPZ, which NumPy writes and reads; blocks are held to codes that NumPy
computes by ggml's reference formulas in float32.

usage: written_files.py TOOLS
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tensor_files import GGUF_TYPES, MLLM_TYPES

NAMES = {"<f4": "Float32", "<f2": "Float16", "|i1": "Int8", "<i2": "Int16", "<i4": "Int32", "<i8": "Int64"}


def read_mllm_v2(contents):
    magic, version, _, count, table = struct.unpack_from("<ii512sIQ", contents)
    assert (magic, version) == (0x519A, 2), "magic number and version"
    for number in range(count):
        fields = struct.unpack_from("<IIQQQ16i256s", contents, table + 352 * number)
        stated, kind, size, begin, rank = fields[:5]
        name = fields[-1].rstrip(b"\0").decode()
        assert stated == number and fields[5 + rank:21] == (0,) * (16 - rank), name
        yield name, kind, fields[5:5 + rank], contents[begin:begin + size]


class GgufReader:
    WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

    def __init__(self, contents):
        self.contents, self.at = contents, 8

    def number(self, form):
        (value,) = struct.unpack_from("<" + form, self.contents, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def string(self):
        length = self.number("Q")
        self.at += length
        return self.contents[self.at - length:self.at].decode()

    def skip_value(self, kind):
        if kind == 8:
            self.string()
        elif kind == 9:
            element, count = self.number("I"), self.number("Q")
            for _ in range(count):
                self.skip_value(element)
        else:
            self.at += self.WIDTHS[kind]

    def tensors(self):
        assert self.contents[:8] == b"GGUF\3\0\0\0", "magic number and version"
        count, pairs = self.number("Q"), self.number("Q")
        for _ in range(pairs):
            self.string()
            self.skip_value(self.number("I"))
        infos = []
        for _ in range(count):
            name, rank = self.string(), self.number("I")
            extents = tuple(reversed([self.number("Q") for _ in range(rank)]))
            infos.append((name, self.number("I"), extents, self.number("Q")))
        data = (self.at + 31) // 32 * 32
        sizes = {0: 4, 1: 2, 24: 1, 25: 2, 26: 4, 27: 8, 30: 2, 8: 34 / 32, 2: 18 / 32}
        for name, kind, extents, offset in infos:
            assert offset % 32 == 0, name
            size = int(np.prod(extents, dtype=np.int64) * sizes[kind])
            yield name, kind, extents, self.contents[data + offset:data + offset + size]


def read_safetensors(contents):
    (length,) = struct.unpack_from("<Q", contents)
    for name, entry in json.loads(contents[8:8 + length]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            yield name, entry["dtype"], tuple(entry["shape"]), contents[8 + length + begin:8 + length + end]


def halves(scales):
    return scales.astype(np.float16)


def inverse(d):
    with np.errstate(divide="ignore"):
        return np.where(d == 0, np.float32(0), np.float32(1) / d)


def q8_0(values):
    """ggml's formula in float32; round() there is half away from zero."""
    blocks = values.reshape(-1, 32)
    d = np.abs(blocks).max(axis=1, keepdims=True) / np.float32(127)
    scaled = blocks * inverse(d)
    codes = (np.sign(scaled) * np.floor(np.abs(scaled) + np.float32(0.5))).astype(np.int8)
    return np.concatenate([halves(d).view(np.uint8), codes.view(np.uint8)], axis=1).tobytes()


def q4_0(values):
    blocks = values.reshape(-1, 32)
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=1)[:, None], axis=1)
    d = largest / np.float32(-8)
    scaled = blocks * inverse(d) + np.float32(8.5)
    codes = np.minimum(15, scaled.astype(np.int8)).astype(np.uint8)
    return np.concatenate([halves(d).view(np.uint8), codes[:, :16] | codes[:, 16:] << 4], axis=1).tobytes()


def bf16(values):
    """Rounded to nearest even; the values are finite."""
    bits = values.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2").tobytes()


def convert(tools, *arguments):
    subprocess.run([f"{tools}/mllm-weights", "convert", *arguments], check=True, stdout=subprocess.DEVNULL)


def check(what, read, wanted):
    read = {name: rest for name, *rest in read}
    if read.keys() != wanted.keys():
        sys.exit(f"{what}: tensors {sorted(read)}, expected {sorted(wanted)}")
    for name, expected in wanted.items():
        if tuple(read[name]) != expected:
            sys.exit(f"{what}: tensor '{name}' was written differently")
    print(f"{what}: {len(wanted)} tensors as expected")


def main():
    tools = Path(sys.argv[1]).resolve()
    random = np.random.default_rng(7)
    arrays = {f"plain.{NAMES[t]}": random.integers(-99, 99, (3, 5)).astype(t) for t in NAMES}
    arrays["scalar"] = np.float32(2.5)
    matrix = random.standard_normal((6, 96)).astype("<f4")
    matrix[2, 32:64] = 0
    arrays["matrix"] = matrix
    arrays["norm"] = random.standard_normal(96).astype("<f4")
    plain = {name: (np.asarray(a).dtype.str, np.shape(a), np.asarray(a).tobytes()) for name, a in arrays.items()}
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        np.savez("a.npz", **arrays)
        for end in ("mllm", "gguf", "safetensors"):
            convert(tools, "a.npz", "-o", f"a.{end}")
        numbered = lambda types: {n: (types[NAMES[t]], s, d) for n, (t, s, d) in plain.items()}
        check("mllm v2", read_mllm_v2(Path("a.mllm").read_bytes()), numbered(MLLM_TYPES))
        check("gguf", GgufReader(Path("a.gguf").read_bytes()).tensors(), numbered(GGUF_TYPES))
        short = {"<f4": "F32", "<f2": "F16", "|i1": "I8", "<i2": "I16", "<i4": "I32", "<i8": "I64"}
        check("safetensors", read_safetensors(Path("a.safetensors").read_bytes()),
              {n: (short[t], s, d) for n, (t, s, d) in plain.items()})
        for name, encode in (("q8_0", q8_0), ("q4_0", q4_0), ("bf16", bf16)):
            convert(tools, "a.npz", "-o", "b.gguf", f"--dtype={name}", "--only=matrix", "--only=norm")
            kind = {"q8_0": 8, "q4_0": 2, "bf16": 30}[name]
            kept = name != "bf16"
            wanted = {"matrix": (kind, (6, 96), encode(matrix)),
                      "norm": (0, (96,), arrays["norm"].tobytes()) if kept else (30, (96,), bf16(arrays["norm"]))}
            check(name, GgufReader(Path("b.gguf").read_bytes()).tensors(), wanted)
        convert(tools, "a.gguf", "-o", "c.npz")
        with np.load("c.npz") as back:
            check("npz", ((n, back[n].dtype.str, back[n].shape, back[n].tobytes()) for n in back), plain)


if __name__ == "__main__":
    main()

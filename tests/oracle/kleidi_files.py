#!/usr/bin/env python3
"""Packs matrices as KleidiAI does and holds what mllm-weights unpacks to the values.

Matrices of 4 bits whose blocks fill rows are unpacked a second time by way of MIR_Q4_A32.

The packers walk over rows and blocks by the published layouts; they share nothing with the C++ code.

usage: kleidi_files.py TOOLS
"""

import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tensor_files import mllm_v2


def nibble_bytes(codes, group, block, nr, run):
    """16 * nr bytes: runs of `run` columns of each row in turn; the column 16 further in the high bits."""
    out = bytearray()
    for start in range(0, 16, run):
        for i in range(nr):
            row = codes[min(group * nr + i, len(codes) - 1)]
            for column in range(32 * block + start, 32 * block + start + run):
                low = row[column] if column < len(row) else 0
                high = row[column + 16] if column + 16 < len(row) else 0
                out.append((low & 15) | (high & 15) << 4)
    return bytes(out)


def groups(codes, nr):
    count = -(-len(codes) // nr)
    for group in range(count):
        yield group, [min(group * nr + i, len(codes) - 1) for i in range(nr)]


def qsi4c32p(codes, scales, bias, nr, run):
    out = b""
    values = codes * np.repeat(scales, 32, axis=1)[:, :codes.shape[1]]
    for group, rows in groups(codes, nr):
        for block in range(scales.shape[1]):
            out += nibble_bytes(codes.tolist(), group, block, nr, run)
            out += b"".join(struct.pack("<f", scales[row][block])[2:] for row in rows)
        out += b"".join(struct.pack("<f", values[row].sum()) for row in rows)
        out += b"".join(struct.pack("<f", bias[row]) for row in rows)
    return out, values


def qai4c32p(codes, scales, offsets, bias, nr, run):
    out = b""
    for group, rows in groups(codes, nr):
        for block in range(scales.shape[1]):
            out += nibble_bytes(codes.tolist(), group, block, nr, run)
            out += b"".join(struct.pack("<f", offsets[row][block]) for row in rows)
            out += b"".join(struct.pack("<f", scales[row][block] / 16) for row in rows)
        out += b"".join(struct.pack("<f", bias[row]) for row in rows)
    return out, codes * np.repeat(scales, 32, axis=1) + np.repeat(offsets, 32, axis=1)


def fp16p(weight, bias):
    n, k = weight.shape
    width = -(-n // 16) * 16
    columns = np.zeros((k + 1, width), "<f2")
    columns[0, :n], columns[1:, :n] = bias, weight.T
    return b"".join(columns[:, p:p + 16].tobytes() for p in range(0, width, 16))


def cases(random):
    """Name, layout, extents, packed bytes, values, bias."""
    exact = lambda low, high, shape: 2.0 ** random.integers(low, high, shape)
    for nr, run, n, k in ((4, 8, 8, 64), (8, 8, 13, 96), (4, 4, 5, 40), (8, 8, 1, 31)):
        codes, bias = random.integers(-8, 8, (n, k)), random.integers(-9, 9, n) / 4
        scales = exact(-6, 3, (n, -(-k // 32))) * 1.5
        packed, values = qsi4c32p(codes, scales, bias, nr, run)
        yield f"s{nr}{run}{n}", f"qsi4c32p{nr}x{run}", (n, k), packed, values, bias
    for nr, run, n, k in ((4, 8, 6, 64), (4, 4, 4, 32)):
        codes, bias = random.integers(-8, 8, (n, k)), np.zeros(n)
        scales = exact(-6, 3, (n, k // 32)).astype(np.float32)
        offsets = random.standard_normal((n, k // 32)).astype(np.float32).astype(np.float64)
        packed, values = qai4c32p(codes, scales, offsets, bias, nr, run)
        yield f"a{nr}{run}", f"KaiLinear_f32_x_qai4c32p_mxk_nxk_qsi8d32p4x8_qai4c32p{nr}x{run}_8x4", (n, k), packed, \
            values, bias
    for n, k in ((16, 3), (21, 40)):
        weight, bias = random.standard_normal((n, k)).astype("<f2"), random.standard_normal(n).astype("<f2")
        yield f"f{n}", "KaiLinear_fp16_fp16_fp16p_mxk_kxn", (n, k), fp16p(weight, bias), weight, bias


def main():
    tools = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for name, layout, (n, k), packed, values, bias in cases(np.random.default_rng(3)):
            tensor = (f"{name}.weight", "Byte", (len(packed),), packed)
            Path("packed.mllm").write_bytes(mllm_v2([tensor]))
            convert = [f"{tools}/mllm-weights", "convert"]
            unpack = [*convert, "packed.mllm", f"--unpack=*={layout}:{n}x{k}"]
            subprocess.run([*unpack, "-o", "plain.npz"], check=True, stdout=subprocess.DEVNULL)
            with np.load("plain.npz") as plain:
                found = {key: plain[key] for key in plain}
            if "c32p" in layout and k % 32 == 0:
                subprocess.run([*unpack, "-o", "blocks.mllm", "--dtype=q4_a32"], check=True, stdout=subprocess.DEVNULL)
                if Path("blocks.mllm").stat().st_size > 532 + 2 * 352 + 64 + n * k * 24 // 32 + 64 + 4 * n:
                    sys.exit(f"{layout} [{n}, {k}]: the file is larger than its blocks")
                subprocess.run([*convert, "blocks.mllm", "-o", "again.npz", "--dtype=f32"], check=True,
                               stdout=subprocess.DEVNULL)
                with np.load("again.npz") as again:
                    for key in again:
                        if again[key].tobytes() != found[key].tobytes():
                            sys.exit(f"{layout} [{n}, {k}]: '{key}' in blocks is other numbers")
            wanted = {f"{name}.weight": np.asarray(values, np.float32)}
            if np.any(bias):
                wanted[f"{name}.bias"] = np.asarray(bias, np.float32)
            if found.keys() != wanted.keys():
                sys.exit(f"{layout}: tensors {sorted(found)}, expected {sorted(wanted)}")
            for key, expected in wanted.items():
                if found[key].shape != expected.shape or found[key].tobytes() != expected.tobytes():
                    sys.exit(f"{layout} [{n}, {k}]: '{key}' was unpacked differently")
            print(f"{layout} [{n}, {k}]: equal bits")


if __name__ == "__main__":
    main()

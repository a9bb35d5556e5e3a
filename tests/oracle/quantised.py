#!/usr/bin/env python3
"""Quantised ops of mllm-interp on random shapes against the formulas of docs/ops/quantisation.md in NumPy.

Every kind, signed and unsigned codes, scales from attributes, from the weight file by parameter and by uuid. The
codes that come out must be the nearest ones, up to one where the exact quotient lies within 1e-9 of a tie.

usage: quantised.py TOOLS
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

EXACT = np.longdouble
SEED = 7
TRIALS = 40
INTS = {"Int8": np.int8, "UInt8": np.uint8, "Int16": np.int16, "UInt16": np.uint16}


class Quant:
    """One quantisation: groups of elements, scales, zero points."""

    def __init__(self, rng, kind, shape, stored, axis=None, block=None, low=None, high=None):
        limits = np.iinfo(INTS[stored])
        self.kind, self.stored, self.axis, self.block = kind, stored, axis, block
        self.low = int(limits.min) if low is None else low
        self.high = int(limits.max) if high is None else high
        self.shape = shape
        self.bits = 4 if kind == "LPBQ" else 0
        channels = shape[axis] if axis is not None else 1
        self.per_channel = 1 if block is None else int(np.prod(shape, dtype=int)) // max(channels, 1) // block
        groups = channels * self.per_channel
        span = self.high - self.low
        self.scale = (rng.uniform(0.5, 2, groups) * 8 / span).astype(np.float32)
        self.scale1 = rng.integers(1, 17, groups).astype(np.uint8)
        self.scale2 = (rng.uniform(0.5, 2, channels) / span / 8).astype(np.float32)
        self.zero = np.zeros(groups, np.int32)
        if kind.startswith("Asym"):
            self.zero = rng.integers(self.low, self.high + 1, groups).astype(np.int32)
        elif self.low >= 0:
            self.zero[:] = (self.low + self.high + 1) // 2

    def spread(self, by_group):
        """The number of its group for every element."""
        if self.axis is None:
            order = np.arange(int(np.prod(self.shape, dtype=int)))
            group = order // self.block if self.block else 0 * order
            return by_group[group].reshape(self.shape)
        moved = (self.shape[self.axis], *self.shape[: self.axis], *self.shape[self.axis + 1 :])
        rest = np.arange(int(np.prod(moved[1:], dtype=int)))
        within = rest // self.block if self.block else 0 * rest
        group = np.arange(moved[0])[:, None] * self.per_channel + within[None, :]
        return np.moveaxis(by_group[group].reshape(moved), 0, self.axis)

    def scales(self):
        if self.kind != "LPBQ":
            return self.spread(self.scale.astype(EXACT))
        return self.spread(self.scale1.astype(EXACT) * np.repeat(self.scale2.astype(EXACT), self.per_channel))

    def real(self, codes):
        codes = codes.astype(np.int64)
        if self.bits:
            codes = codes & 15
            codes = np.where((codes >= 8) & (self.low < 0), codes - 16, codes)
        return self.scales() * (codes - self.spread(self.zero.astype(np.int64)))

    def check(self, what, real, found):
        """Whether `found` are the codes nearest to `real`."""
        zero = self.spread(self.zero.astype(np.int64)).astype(EXACT)
        steps = real / self.scales()
        for tie in (-1e-9, 1e-9):
            wanted = np.clip(np.rint(steps + tie) + zero, self.low, self.high)
            same = found.astype(np.int64) == wanted.astype(np.int64)
            if tie < 0:
                first = same
        if not np.all(first | same):
            at = tuple(int(i) for i in np.argwhere(~(first | same))[0])
            raise AssertionError(f"{what} at {at}: code {found[at]}, exact quotient {steps[at]}, zero point {zero[at]}")

    def spec(self, uuid):
        fields = [f"quant_min: {self.low}", f"quant_max: {self.high}"]
        fields += [f"block_size: {self.block}"] if self.block else []
        fields += [f"ch_axis: {self.axis}"] if self.axis is not None else []
        to = "Int4" if self.kind == "LPBQ" else self.stored
        fields += ["scale_level_0_bitwidth: 4"] if self.kind == "LPBQ" else []
        fields += [f"quant_to_type: {to}", "scale_type: Float32"]
        return f"QuantSpec({self.kind}({', '.join(fields)}), uuid={uuid}, solved=1)"

    def attributes(self, uuid, with_scales=True):
        text = f"quant_recipe:{self.spec(uuid)}"
        if with_scales:
            text += f", quant_scale:[{', '.join(repr(float(s)) for s in self.scale)}]"
            if self.kind.startswith("Asym"):
                text += f", quant_zero_point:[{', '.join(map(str, self.zero))}]"
        return text

    def tensors(self, stem):
        if self.kind == "LPBQ":
            return {f"{stem}.scale1": self.scale1, f"{stem}.scale2": self.scale2}
        zero = {f"{stem}.zero_point": self.zero} if self.kind.startswith("Asym") else {}
        return {f"{stem}.scale": self.scale, **zero}


def type_of(shape, dtype):
    return f"tensor<[{', '.join(map(str, shape))}], {dtype}, CPU>"


def codes(rng, quant):
    return rng.integers(quant.low, quant.high + 1, quant.shape).astype(INTS[quant.stored])


def run(tools, folder, text, inputs, weights):
    (folder / "case.mir").write_text(text)
    command = [tools / "mllm-interp", folder / "case.mir", f"--output={folder / 'out.npz'}", "--print-outputs=no"]
    for i, array in enumerate(inputs):
        np.save(folder / f"{i}.npy", array)
        command.append(f"--input={i}={folder / f'{i}.npy'}")
    if weights:
        np.savez(folder / "w.npz", **weights)
        command.append(f"--weights={folder / 'w.npz'}")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{text}{done.stderr}")
    with np.load(folder / "out.npz") as out:
        return out["y"]


def shape_of(rng, rank, last=None):
    shape = [int(rng.choice([0, 1, 2, 3, 5, 7])) for _ in range(rank)]
    return tuple(shape if last is None else shape[:-1] + [last])


def any_quant(rng, shape, kinds, stored=None):
    kind = str(rng.choice(kinds))
    stored = str(rng.choice(list(INTS))) if stored is None else stored
    axis = int(rng.integers(0, len(shape))) if kind.endswith("Channel") else None
    block = None
    if kind.endswith("Block"):
        block = int(rng.choice([n for n in (1, 2, 4, 8) if int(np.prod(shape, dtype=int)) % n == 0]))
    return Quant(rng, kind, shape, stored, axis, block)


TENSOR = ("SymPerTensor", "AsymPerTensor")
ALL = TENSOR + ("SymPerChannel", "AsymPerChannel", "SymPerBlock", "AsymPerBlock")


def casts(tools, folder, rng):
    """Float32 to codes and back, every kind."""
    shape = shape_of(rng, int(rng.integers(1, 4)))
    quant = any_quant(rng, shape, ALL)
    x = (rng.standard_normal(shape) * 6).astype(np.float32)
    stored = type_of(shape, quant.stored)
    value = f"%c:{stored}[{quant.attributes(1)}]"
    text = (f"@m [mir_version:1] (%x:{type_of(shape, 'Float32')}) -> ({value}) {{\n"
            f"linalg.CPU.CastTypeOp [dtype:{quant.stored}] (%x:{type_of(shape, 'Float32')}) -> ({value})\n"
            f"cf.ReturnOp ({value}) -> ()\n}}\n")
    found = run(tools, folder, text.replace("%c:", "%y:"), [x], {})
    quant.check("cast", x.astype(EXACT), found)
    given = codes(rng, quant)
    text = (f"@m [mir_version:1] ({value}) -> (%y:{type_of(shape, 'Float64')}) {{\n"
            f"linalg.CPU.CastTypeOp [dtype:Float64] ({value}) -> (%y:{type_of(shape, 'Float64')})\n"
            f"cf.ReturnOp (%y:{type_of(shape, 'Float64')}) -> ()\n}}\n")
    found = run(tools, folder, text, [given], {})
    if not np.array_equal(found, quant.real(given).astype(np.float64)):
        raise AssertionError(f"dequantised {quant.kind}: {found} for {quant.real(given)}")


def binaries(tools, folder, rng):
    """Sums and products of two quantised operands, scales by uuid from the weight file."""
    shape = shape_of(rng, int(rng.integers(1, 4)))
    stored = str(rng.choice(list(INTS)))
    a, b, y = (any_quant(rng, shape, TENSOR, stored) for _ in range(3))
    name, function = (("AddOp", np.add), ("SubOp", np.subtract), ("MulOp", np.multiply))[int(rng.integers(0, 3))]
    x0, x1 = codes(rng, a), codes(rng, b)
    style = str(rng.choice(["uuid", "source", "annotation"]))

    def mark(q, n):
        plain = type_of(shape, q.stored + "PerTensor")
        if style == "annotation":
            return plain
        source = f', quant_source:"point.{n}"' if style == "source" else ""
        return f"{plain}[{q.attributes(n, False)}{source}]"

    note = (f"[quant_recipe:QuantAnnotation(inputs_0:{a.spec(1)}, inputs_1:{b.spec(2)}, outputs_0:{y.spec(3)}, )] "
            if style == "annotation" else "")
    values = f"(%a:{mark(a, 1)}, %b:{mark(b, 2)})"
    text = (f"@m [mir_version:1] {values} -> (%y:{mark(y, 3)}) {{\n"
            f"linalg.CPU.{name} {note}{values} -> (%y:{mark(y, 3)})\ncf.ReturnOp (%y:{mark(y, 3)}) -> ()\n}}\n")
    stem = "point" if style == "source" else "quant"
    weights = {**a.tensors(f"{stem}.1"), **b.tensors(f"{stem}.2"), **y.tensors(f"{stem}.3")}
    y.check(name, function(a.real(x0), b.real(x1)), run(tools, folder, text, [x0, x1], weights))


def linears(tools, folder, rng):
    """y = x W^T with weights of every kind: LPBQ as QNN stores it, others as [out, in]."""
    outs, ins = int(rng.integers(1, 6)), 16 * int(rng.integers(1, 4))
    x = any_quant(rng, shape_of(rng, 2, ins), TENSOR)
    lpbq = bool(rng.integers(0, 2))
    y = any_quant(rng, (*x.shape[:-1], outs), TENSOR, "UInt16" if lpbq else x.stored)
    if lpbq:
        w = Quant(rng, "LPBQ", (1, 1, ins, outs), "Int8", 3, 16, -7, 7)
        stored = rng.integers(-7, 8, w.shape).astype(np.int8) & int(rng.choice([15, -1]))
        matrix = w.real(stored)[0, 0].T
    else:
        kind = str(rng.choice([k for k in ALL if k not in TENSOR]))
        w = Quant(rng, kind, (outs, ins), "Int8", 0 if kind.endswith("Channel") else None,
                  8 if kind.endswith("Block") else None)
        stored = codes(rng, w)
        matrix = w.real(stored)
    given = codes(rng, x)
    mark = lambda q, n: f"{type_of(q.shape, q.stored + 'PerTensor')}[{q.attributes(n)}]"
    impl = ', impl_type:"QNN_LPBQ_w4a16o16_G32"' if lpbq else ""
    parameter = f"%w:{type_of(w.shape, 'Int8')}[@fc.weight][{w.attributes(9, False)}]"
    # Upstream names what belongs to `fc.weight` after `fc` for LPBQ.
    stem = "fc" if lpbq else str(rng.choice(["fc.weight", "fc"]))
    text = (f"@m [mir_version:1] (%x:{mark(x, 1)}) -> (%y:{mark(y, 2)}) {{\n"
            f"graph.SubGraphOp @init <CPU> {{ () -> () {{\ntensor.CPU.register () -> ({parameter})[symbol:fc.weight]\n}} }}\n"
            f"linalg.CPU.LinearOp <name=\"fc\"> [in_channels:{ins}, out_channels:{outs}, bias:false{impl}] (%x:{mark(x, 1)}) -> "
            f"(%y:{mark(y, 2)})\ncf.ReturnOp (%y:{mark(y, 2)}) -> ()\n}}\n")
    found = run(tools, folder, text, [given], {"fc.weight": stored, **w.tensors(stem)})
    y.check(f"Linear with {w.kind}", x.real(given) @ matrix.T, found)


def main():
    tools = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate((casts, binaries, linears)):
            for trial in range(TRIALS):
                rng = np.random.default_rng([SEED, number, trial])
                try:
                    case(tools, Path(folder), rng)
                except AssertionError as error:
                    print(f"{case.__name__}, seed {[SEED, number, trial]}: {error}", file=sys.stderr)
                    return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

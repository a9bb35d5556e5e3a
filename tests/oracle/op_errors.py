#!/usr/bin/env python3
"""Runs random cases of every op and writes how far results lie from an evaluation in NumPy.

Every case must be within the bound that its op's page states, and every op that `mllm-parse --list-ops` says
runs must have cases. Extents of 0 and 1 are among them.

usage: op_errors.py TOOLS           check, and compare with docs/op-errors.md
       op_errors.py TOOLS --write   write docs/op-errors.md
       op_errors.py TOOLS OP...     check these ops and show their rows
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
from ops import contractions, elementwise  # noqa: E402,F401: they register their ops
from ops.cases import EXACT, NAMES, OPS, Samples  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/op-errors.md"
TRIALS = 8
# Structure, what has no kernel, and the op that generics.py runs.
WITHOUT_CASES = {"CustomizedOp", "GenericOp", "register"}


def type_of(array):
    return f"tensor<[{', '.join(map(str, array.shape))}], {NAMES[array.dtype.name]}, CPU>"


def module_of(name, cases):
    """The text of a module with one op for each case."""
    inputs, outputs, registers, body = [], [], [], []
    for c, case in enumerate(cases):
        operands = [f"%i{c}x{i}:{type_of(a)}" for i, a in enumerate(case.operands)]
        results = [f"%r{c}x{i}:{type_of(np.empty(w.value.shape, w.dtype))}" for i, w in enumerate(case.wants)]
        attributes = ", ".join(f"{k}:{json.dumps(v)}" for k, v in case.attributes.items())
        attributes = attributes.replace('"op.', f'"op{c}.')  # a weight of this op
        registers += [f"tensor.CPU.register () -> (%w{c}x{i}:{type_of(w)}[@op{c}{suffix}])[symbol:op{c}{suffix}]\n"
                      for i, (suffix, w) in enumerate(case.weights.items())]
        body.append(f"linalg.CPU.{name} <name=\"op{c}\"> [{attributes}] ({', '.join(operands)}) -> ({', '.join(results)})\n")
        inputs += operands
        outputs += results
    init = f"graph.SubGraphOp @init <CPU> {{ () -> () {{\n{''.join(registers)}}} }}\n" if registers else ""
    return (f"@case [mir_version:1] ({', '.join(inputs)}) -> ({', '.join(outputs)}) {{\n{init}{''.join(body)}"
            f"cf.ReturnOp ({', '.join(outputs)}) -> ()\n}}\n")


def run(tools, folder, name, cases):
    """What the tool computes for each case, in one run: starting it takes longer than most cases."""
    (folder / "case.mir").write_text(module_of(name, cases))
    inputs, weights = folder / "in.npz", folder / "w.npz"
    np.savez(inputs, **{f"i{c}x{i}": operand for c, case in enumerate(cases) for i, operand in enumerate(case.operands)})
    np.savez(weights, **{f"op{c}{suffix}": w for c, case in enumerate(cases) for suffix, w in case.weights.items()})
    command = [tools / "mllm-interp", folder / "case.mir", f"--output={folder / 'out.npz'}", "--print-outputs=no"]
    command += [f"--input=%i{c}x{i}={inputs}:i{c}x{i}" for c, case in enumerate(cases) for i in range(len(case.operands))]
    if any(case.weights for case in cases):
        command.append(f"--weights={weights}")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{name} fails:\n{module_of(name, cases)}{done.stderr}")
    with np.load(folder / "out.npz") as out:
        return [[out[f"r{c}x{i}"] for i in range(len(case.wants))] for c, case in enumerate(cases)]


def units(value, dtype):
    """The unit in the last place of a type at each value."""
    limits = np.finfo(dtype)
    _, exponent = np.frexp(np.abs(value))
    lowest = limits.minexp + 1
    exponent = np.where((value == 0) | (exponent < lowest), lowest, exponent)
    return np.ldexp(EXACT(1), (exponent - limits.nmant - 1).astype(int))


def error_of(name, want, got, case):
    """The largest distance, in units of the last place where the absolute part of the bound is below one, and as a
    share of the bound; fails beyond it."""
    if got.shape != want.value.shape or got.dtype != want.dtype:
        raise AssertionError(f"{name}: {got.dtype} {got.shape}, expected {want.dtype} {want.value.shape}")
    if want.ulp == 0:
        same = np.array_equal(got, want.value.astype(want.dtype), equal_nan=got.dtype.kind == "f")
        if not same:
            raise AssertionError(f"{name}: found\n{got}\nexpected\n{want.value}\n{module_of(name, [case])}")
        return 0.0, 0.0
    value = want.value.astype(EXACT)
    largest = EXACT(np.finfo(want.dtype).max)
    overflows = np.abs(value) > largest
    plain = np.isfinite(value) & ~overflows
    unit = units(np.where(plain, value, 1), want.dtype)
    with np.errstate(invalid="ignore"):
        distance = np.where(plain, np.abs(got.astype(EXACT) - np.where(plain, value, 0)), 0)
    allowed = want.ulp * unit + (0 if want.extra is None else want.extra)
    rest = ~plain & ~((np.isnan(value) & np.isnan(got)) | (np.isinf(got) & (np.sign(got) == np.sign(value))) |
                      (overflows & (np.abs(got) == largest)))
    wrong = (plain & ~(distance <= allowed)) | rest
    if np.any(wrong):
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(f"{name} at {at}: found {got[at]}, expected {value[at]}, {float((distance / unit)[at]):.4g} "
                             f"units\n{module_of(name, [case])}")
    extra = np.zeros_like(unit) if want.extra is None else np.broadcast_to(want.extra, unit.shape)
    counted = np.where(extra < unit, distance / unit, 0)
    return float(np.max(counted, initial=0)), float(np.max(distance / allowed, initial=0))


def measure(tools, folder, name):
    function, bound, dtypes = OPS[name]
    elements = 0
    worst = share = 0.0
    for number, dtype in enumerate(dtypes):
        rng = np.random.default_rng([number, *name.encode()])
        cases = [function(Samples(rng, dtype)) for _ in range(TRIALS)]
        for case, found in zip(cases, run(tools, folder, name, cases)):
            for want, got in zip(case.wants, found):
                error = error_of(name, want, got, case)
                worst, share = max(worst, error[0]), max(share, error[1])
                elements += got.size
    shown = "0 | " if share == 0 else f"{worst:.3f} | {share:.2f}"
    types = ", ".join(NAMES[d] for d in dtypes)
    return f"| {name} | {types} | {TRIALS * len(dtypes)} | {elements} | {shown} | {bound} |"


def page_of(rows):
    return ("# Errors of the reference kernels\n\n"
            "Generated by `tests/oracle/op_errors.py`; do not edit. Random cases of every op, extents of 0 and 1 among\n"
            "them, against an evaluation of the formulas of `docs/ops/` in NumPy with 64 significant bits. *Largest*: the\n"
            "farthest that a result lies from the exact value, in units of the last place of its type, where the absolute\n"
            "part of the bound is below one unit. *Share*: the largest error as a part of the bound, over all elements.\n"
            "*Bound*: what the op's page states and every element was held to.\n\n"
            "| op | types | cases | elements | largest | share | bound |\n|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n")


def main():
    tools = Path(sys.argv[1])
    chosen = [each for each in sys.argv[2:] if each != "--write"]
    listed = subprocess.run([tools / "mllm-parse", "--list-ops"], capture_output=True, text=True, check=True).stdout
    known = {line.split()[0].removeprefix("linalg.") for line in listed.splitlines() if line.startswith("linalg.")}
    if known - WITHOUT_CASES != set(OPS):
        print(f"ops without cases: {sorted(known - WITHOUT_CASES - set(OPS))}, unknown: {sorted(set(OPS) - known)}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(tools, Path(folder), name) for name in chosen or sorted(OPS)]
    if chosen:
        print("\n".join(rows))
        return 0
    page = page_of(rows)
    if "--write" in sys.argv:
        PAGE.write_text(page)
    elif page != PAGE.read_text():
        print(f"{PAGE} is not what this run gives; write it with --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compiles modules as C and compares every bit with the reference kernels.

The modules are random generic ops, as those of generics.py; random schedules, as those of schedules.py, both also as the nests
to which `loops` lowers them; and cases of every op with a generic body, as those of generic_bodies.py. Each C file is compiled
without a warning by one of the compilers and levels below, in turn; those with sanitizers also find accesses outside of arrays,
and one runs parallel loops on threads.

usage: c_out.py TOOLS [GENERICS [SCHEDULES [SEED]]]
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
import generic_bodies  # noqa: E402
import generics  # noqa: E402
import schedules  # noqa: E402
from op_errors import OPS, Samples, module_of  # noqa: E402

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-DMIR_MAIN", "-ffp-contract=off"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
COMPILERS = [["gcc", "-O0"], ["gcc", "-O3", "-march=native", "-fopenmp"], ["clang", "-O1", *SANITIZERS], ["clang", "-O3", "-march=native"]]
PORT = re.compile(r"^   (input|output) (\w+): \w+ \([\d, ]*\), %(\S+)$", re.MULTILINE)
WEIGHT = re.compile(r"^  const \w+\* (\w+); /\* (\S+) \(", re.MULTILINE)
CASES = 4
# Compiling takes the time. Usual runs compile each case once, and an op in the first element type that it has in C.
IS_LONG = os.environ.get("MIR_TEST_SHARE") == "long"


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


class Programs:
    """Compiles C files by all compilers that there are, one after the other."""

    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.compilers = [each for each in COMPILERS if shutil.which(each[0])]
        self.count = 0

    def outputs(self, module, arrays, passes=()):
        """The outputs of a module, by their names in it; a text if it is refused or stops."""
        source, program = self.folder / "module.c", self.folder / "module"
        words = [word for each in passes for word in ("-p", each)]
        made = run([self.tools / "mllm-opt", *words, "--emit=c", module, "-o", source])
        if made.returncode != 0:
            return made.stderr
        text = source.read_text()
        compiler = self.compilers[self.count % len(self.compilers)]
        self.count += 1
        made = run([*compiler, *STRICT, source, "-o", program, "-lm"])
        if made.returncode != 0:
            raise AssertionError(f"{compiler}: {made.stderr[:4000]}")
        ports = PORT.findall(text)
        inputs = {name: arrays[stated] for kind, name, stated in ports if kind == "input"}
        inputs |= {name: arrays[stated] for name, stated in WEIGHT.findall(text)}
        command = [program]
        for name, array in inputs.items():
            np.save(self.folder / f"{name}.in.npy", array)
            command.append(f"{name}={self.folder / name}.in.npy")
        outputs = [(name, stated) for kind, name, stated in ports if kind == "output"]
        command += [f"{name}={self.folder / name}.out.npy" for name, _ in outputs]
        done = run(command)
        if done.returncode != 0:
            if "the run ended with" not in done.stderr:
                raise AssertionError(f"{compiler}: {done.stderr}\n{text}")
            return done.stderr
        return {stated: np.load(self.folder / f"{name}.out.npy") for name, stated in outputs}


def skip_without_compilers(programs):
    """True after a message if no C compiler is installed."""
    if not programs.compilers:
        print(f"skipped: none of {', '.join(sorted({each[0] for each in COMPILERS}))} is installed")
    return not programs.compilers


def compare(found, wanted, module):
    assert sorted(found) == sorted(wanted), (sorted(found), sorted(wanted))
    for key, want in wanted.items():
        got = found[key]
        if want.dtype != got.dtype or want.shape != got.shape or want.tobytes() != got.tobytes():
            raise AssertionError(f"%{key}: C gives\n{got}\nexpected\n{want}\n{module.read_text()}")


def check_generics(programs, count, seed):
    """The number of results."""
    results = 0
    for first in range(0, count, generics.OPS_OF_A_MODULE):
        drawing = generics.Drawing(np.random.default_rng([seed, first]))
        ops = [drawing.generic() for _ in range(min(generics.OPS_OF_A_MODULE, count - first))]
        by_reference = generics.run(programs.tools, programs.folder, ops, ["--kernels=ref"])
        arrays = {f"i{n}x{i}": array for n, op in enumerate(ops) for i, array in enumerate(op.operands)}
        module = programs.folder / "case.mir"
        found = programs.outputs(module, arrays)
        assert not isinstance(found, str), f"{found}\n{module.read_text()}"
        wanted = {f"r{n}x{i}": array for n, arrays_of in enumerate(by_reference) for i, array in enumerate(arrays_of)}
        compare(found, wanted, module)
        results += len(wanted) + check_nests(programs, ops, by_reference)
    return results


def check_nests(programs, ops, by_reference):
    """The number of results of the nests of generic ops."""
    lowered = [(op, results) for op, results in zip(ops, by_reference) if generics.has_nests(op)]
    module = programs.folder / "case.mir"
    module.write_text(generics.module_text([op for op, _ in lowered]))
    generics.lower(programs.tools, programs.folder)
    found = programs.outputs(module, {f"i{n}x{i}": array for n, (op, _) in enumerate(lowered) for i, array in enumerate(op.operands)})
    assert not isinstance(found, str), f"{found}\n{module.read_text()}"
    wanted = {f"r{n}x{i}": array for n, (_, results) in enumerate(lowered) for i, array in enumerate(results)}
    compare(found, wanted, module)
    return len(wanted)


def schedule_inputs(text, binds, seed):
    """An array for each input of a module, whose symbols have these values."""
    rng = np.random.default_rng(seed)
    values = dict(re.findall(r"--bind=(\w+)=(\d+)", " ".join(binds)))
    arrays = {}
    for name, extents, dtype in re.findall(r"%(\w+):tensor<\[([^]]*)\], (\w+), CPU>", text.split(") -> (")[0]):
        shape = [int(values.get(each.lstrip("$"), each)) for each in extents.split(", ") if each]
        arrays[name] = rng.standard_normal(shape).astype(dtype.lower())
    return arrays


def weights_of(text, seed):
    """An array for each parameter, whose extents are numbers."""
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal([int(each) for each in extents.split(", ")]).astype("float32")
            for extents, name in re.findall(r"register \(\) -> \(%w:tensor<\[([^]]*)\], Float32, CPU>\[@([\w.]+)\]", text)}


def check_schedules(programs, count, seed):
    """The number of schedules that run, and of those that stop."""
    rng, counts = random.Random(seed), {"taken": 0, "refused": 0}
    equal = stopped = 0
    for _ in range(count):
        problem, text, binds, steps = schedules.draw_schedule(programs.tools, rng, programs.folder, counts)
        assert problem is None, problem
        before, after = programs.folder / "before.mir", programs.folder / "after.mir"
        arrays = schedule_inputs(text, binds, rng.randrange(1 << 30))
        for name, array in arrays.items():
            np.save(programs.folder / f"{name}.npy", array)
        weights = weights_of(text, rng.randrange(1 << 30))
        np.savez(programs.folder / "weights.npz", **weights)
        done = run([programs.tools / "mllm-interp", "--kernels=ref", before, "--print-outputs=no",
                    *[f"--input={name}={programs.folder / name}.npy" for name in arrays], f"--output={programs.folder / 'y.npy'}",
                    *([f"--weights={programs.folder / 'weights.npz'}"] if weights else [])])
        values = ",".join(each.removeprefix("--bind=") for each in binds if f"${each.removeprefix('--bind=')[0]}" in text)
        passes = [f"bind-symbols{{{values}}}"] if values else []
        for lowering in ([], ["loops"]) if "accumulate:" not in after.read_text() else ([],):
            found = programs.outputs(after, arrays | weights, [*passes, *lowering])
            if done.returncode != 0:
                assert isinstance(found, str), f"{done.stderr}{steps}\n{after.read_text()}"
                continue
            assert not isinstance(found, str), f"{found}{steps}\n{after.read_text()}"
            compare(found, {"y": np.load(programs.folder / "y.npy")}, after)
        equal += done.returncode == 0
        stopped += done.returncode != 0
    assert equal > 0 or count == 0, f"all {count} schedules stop"
    return equal, stopped


def check_module(programs, name, cases):
    """False if the module with these cases of an op is refused."""
    text = module_of(name, cases)
    module = programs.folder / "op.mir"
    module.write_text(text)
    arrays = {f"i{c}x{i}": operand for c, case in enumerate(cases) for i, operand in enumerate(case.operands)}
    arrays |= {f"op{c}{suffix}": w for c, case in enumerate(cases) for suffix, w in case.weights.items()}
    found = programs.outputs(module, arrays)
    if isinstance(found, str):
        assert "MIR0929" in found, f"{found}\n{text}"
        return False
    compare(found, generic_bodies.results(programs.tools, programs.folder, text, cases, "ref"), module)
    return True


def check_ops(programs):
    """The number of cases of ops that have a generic body. Each such op must be written for some element type."""
    cases_of_all, written = 0, set()
    for name, (function, _, dtypes) in sorted(OPS.items()):
        for number, dtype in enumerate(dtypes):
            rng = np.random.default_rng([11, number, *name.encode()])
            cases = [function(Samples(rng, dtype)) for _ in range(CASES)]
            for case in cases[1::2]:
                case.operands = [generic_bodies.with_special(each, rng) for each in case.operands]
                case.weights = {suffix: generic_bodies.with_special(each, rng) for suffix, each in case.weights.items()}
            # One case that has no body would hide the others.
            if check_module(programs, name, cases):
                count = len(cases)
            else:
                count = sum(check_module(programs, name, [case]) for case in cases)
            cases_of_all += count
            if count > 0:
                written.add(name)
                if not IS_LONG:
                    break
    missing = sorted((set(generic_bodies.with_body()) & set(OPS)) - written)
    assert not missing, f"no case is written in C: {', '.join(missing)}"
    return cases_of_all


def main():
    tools = Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100 if IS_LONG else 30
    schedule_count = int(sys.argv[3]) if len(sys.argv) > 3 else 12 if IS_LONG else 4
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        programs = Programs(tools, Path(folder))
        if skip_without_compilers(programs):
            return 77
        results = check_generics(programs, count, seed)
        equal, stopped = check_schedules(programs, schedule_count, seed)
        cases = check_ops(programs) if len(sys.argv) < 4 else 0
        names = ", ".join(" ".join(each[:2]) for each in programs.compilers)
    print(f"{results} results of {count} generic ops, {equal} schedules and {stopped} that stop, {cases} cases of ops: "
          f"equal bits in C by {names}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

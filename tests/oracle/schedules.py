#!/usr/bin/env python3
"""Runs random schedules of generic ops: every step that is taken must keep all bits.

A schedule is a pipeline of one to eight steps on the ops into which products, convolutions, norms, Softmax and chains are
decomposed, with extents that are prime, 0, 1, or one beside a tile, constant or symbolic. A step may be refused by name. The
module after the schedule must give the bits of the module before it, with the reference and with the fast kernels.

usage: schedules.py TOOLS [COUNT [SEED]]
"""

import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = [["--kernels=ref"], ["--kernels=fast", "--threads=1"], ["--kernels=fast", "--threads=3"]]
EXTENTS = [0, 1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33]
REFUSED = re.compile(r"error\[MIR092[08]\]")

MODULES = {
    "product": ("linalg.CPU.MatMulOp [transpose_b:{flag}] (%a, %b) -> (%y)", "[A, C]", "[B, C]|[C, B]"),
    "chain": ("linalg.CPU.AddOp(%a, %b) -> (%u)\n    linalg.CPU.SiLUOp(%u) -> (%v)\n    linalg.CPU.MulOp(%v, %a) -> (%y)", "[A, C]", "[A, C]"),
    "softmax": ("linalg.CPU.MulOp(%a, %b) -> (%u)\n    linalg.CPU.SoftmaxOp [axis:-1] (%u) -> (%y)", "[A, P]", "[A, P]"),
    "sums": ("linalg.CPU.MulOp(%a, %b) -> (%u)\n    linalg.CPU.ReduceSumOp [dim:0, keep_dim:false] (%u) -> (%y)", "[P, C]", "[P, C]"),
    "largest": ("linalg.CPU.NegOp(%a) -> (%u)\n    linalg.CPU.AddOp(%u, %b) -> (%v)\n    linalg.CPU.ReduceMaxOp [dim:1, keep_dim:true] (%v) -> (%y)", "[A, P]", "[A, P]"),
    "product of a chain": ("linalg.CPU.ExpOp(%a) -> (%u)\n    linalg.CPU.MatMulOp [transpose_b:{flag}] (%u, %b) -> (%v)\n    linalg.CPU.AbsOp(%v) -> (%y)", "[A, C]", "[B, C]|[C, B]"),
    "einsum": ("linalg.CPU.EinsumOp [equation:\"ik,kj->ji\"] (%a, %b) -> (%y)", "[A, C]", "[C, B]"),
}


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def module_text(rng, name):
    """The text of a module, and the extents of its symbols."""
    body, first, second = MODULES[name]
    flag = rng.random() < 0.5
    second = second.split("|")[0 if flag or "|" not in second else 1]
    extents = {each: rng.choice(EXTENTS) for each in "ABC"}
    extents["P"] = rng.choice(EXTENTS[1:])
    symbols = {each for each in "ABC" if rng.random() < 0.3}
    dtype = rng.choice(["Float32", "Float32", "Float16", "Float64"])

    def shape(text, bound):
        return re.sub("[ABCP]", lambda m: f"${m[0]}" if m[0] in symbols and not bound else str(extents[m[0]]), text)

    declared = ", ".join(f"{each}:{{min:0, max:64}}" for each in sorted(symbols))
    head = f"mir_version:2, symbols:{{{declared}}}" if declared else "mir_version:2"
    text = (f"@main [{head}] (%a:tensor<{shape(first, False)}, {dtype}, CPU>, %b:tensor<{shape(second, False)}, {dtype}, CPU>)"
            f" -> (%y) {{\n    {body.replace('{flag}', str(flag).lower())}\n    cf.ReturnOp (%y) -> ()\n}}\n")
    binds = [f"--bind={each}={extents[each]}" for each in sorted(symbols)]
    return text, binds


def loops_of(text):
    """The loops of each generic op, the outermost first."""
    return [re.findall(r'"?(\w+)"?:', loops) for loops in re.findall(r"GenericOp(?: <[^>]*>)? \[loops:\{([^}]*)\}", text)]


def draw_step(rng, text):
    loops = rng.choice(loops_of(text))
    kind = rng.choice(["split", "tile", "order", "pack", "fuse-producer", "fuse-consumer"])
    some = rng.sample(loops, rng.randint(1, len(loops))) if loops else ["none"]
    if kind in ("split", "tile"):
        return f"{kind}{{{','.join(f'{each}={rng.choice([1, 2, 3, 4, 8, 16, 40])}' for each in some)}}}"
    if kind == "order":
        return f"order{{outer=[{','.join(some)}]}}"
    return f"{kind}{{operand={rng.randint(0, 1)}}}" if kind in ("pack", "fuse-producer") else kind


def check(tools, rng, folder, counts):
    name = rng.choice(list(MODULES))
    text, binds = module_text(rng, name)
    before, after = folder / "before.mir", folder / "after.mir"
    before.write_text(text)
    made = run([tools / "mllm-opt", "-p", "decompose{to=generic}", before, "-o", after])
    if made.returncode != 0:
        return f"decompose fails\n{made.stderr}"
    steps = []
    for _ in range(rng.randint(1, 8)):
        ops = [int(match) for match in re.findall(r'name="op(\d+)"', after.read_text())]
        if not ops:
            count = iter(range(100))
            after.write_text(re.sub(r"GenericOp \[", lambda _: f'GenericOp <name="op{next(count)}"> [', after.read_text()))
            ops = [0]
        step = draw_step(rng, after.read_text())
        op = rng.choice(re.findall(r'name="op(\d+)"', after.read_text()))
        made = run([tools / "mllm-opt", "-p", f"linalg.GenericOp(@op{op}:{step})", after, "-o", folder / "next.mir"])
        if made.returncode == 0:
            steps.append(f"op{op}: {step}")
            counts["taken"] += 1
            (folder / "next.mir").replace(after)
        elif REFUSED.search(made.stderr):
            counts["refused"] += 1
        else:
            return f"{text}{steps}\nstep op{op}: {step} fails\n{made.stderr}{after.read_text()}"
    inputs = ["-i", "a=random:1", "-i", "b=random:2", *binds]
    expected = run([tools / "mllm-interp", "--kernels=ref", *inputs, before])
    for options in RUNS:
        found = run([tools / "mllm-interp", *options, *inputs, after])
        if (found.returncode, found.stdout) != (expected.returncode, expected.stdout):
            return (f"{text}{steps} {binds} {options}\n{after.read_text()}expected {expected.stdout}{expected.stderr}"
                    f"found {found.stdout}{found.stderr}")
    counts["stopped" if expected.returncode else "equal"] += 1
    return None


def main(tools, count=60, seed=1):
    rng = random.Random(int(seed))
    counts = {"taken": 0, "refused": 0, "equal": 0, "stopped": 0}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(int(count)):
            problem = check(Path(tools), rng, Path(folder), counts)
            if problem:
                print(f"schedule {number}: {problem}")
                return 1
    print(", ".join(f"{value} {key}" for key, value in counts.items()))
    return 0 if counts["equal"] and counts["taken"] else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

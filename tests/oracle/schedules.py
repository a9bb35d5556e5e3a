#!/usr/bin/env python3
"""Runs random schedules of generic ops: every step that is taken must keep all bits.

A schedule is a pipeline of one to eight steps on the ops into which products, convolutions, norms, Softmax, attention and
chains are decomposed, with extents that are prime, 0, 1, or one beside a tile, constant or symbolic. A step may be refused by
name. The module after the schedule must give the bits of the module before it, with the reference and with the fast kernels, and
so must the nests to which `loops` lowers it, also after `cache`. `accumulate` must keep a bound; the steps after it must keep its bits. Its numbers
are those of exact arithmetic in Python.

usage: schedules.py TOOLS [COUNT [SEED]]
"""

import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np

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
    "convolution": ("linalg.CPU.AddOp(%a, %b) -> (%u)\n    linalg.CPU.Conv2DOp <name=\"w\"> [in_channels:2, out_channels:3, kernel_size:[3, 2], "
                    "padding:[1, 1], bias:false] (%u) -> (%v)\n    linalg.CPU.ReLUOp(%v) -> (%y)", "[1, 2, P, C]", "[1, 2, P, C]"),
    "attention": ("linalg.CPU.MatMulOp [transpose_b:true] (%a, %b) -> (%u)\n    linalg.CPU.SoftmaxOp [axis:-1] (%u) -> (%v)\n    "
                  "linalg.CPU.MatMulOp [transpose_b:false] (%v, %b) -> (%y)", "[A, C]", "[P, C]"),
    "norm": ("linalg.CPU.MulOp(%a, %b) -> (%u)\n    linalg.CPU.RMSNormOp <name=\"w\"> [epsilon:1e-6] (%u) -> (%y)", "[A, P]", "[A, P]"),
}
WEIGHTS = {"convolution": "[3, 2, 3, 2]", "norm": "[P]"}


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def module_text(rng, name):
    """The text of a module, and the extents of its symbols."""
    body, first, second = MODULES[name]
    flag = rng.random() < 0.5
    second = second.split("|")[0 if flag or "|" not in second else 1]
    extents = {each: rng.choice(EXTENTS) for each in "ABC"}
    extents["P"] = rng.choice(EXTENTS[1:])
    if name == "convolution":
        extents["C"] = max(1, extents["C"])
    symbols = {each for each in "ABC" if each in first + second and rng.random() < 0.3}
    dtype = rng.choice(["Float32", "Float32", "Float16", "Float64"]) if name not in WEIGHTS else "Float32"

    def shape(text, bound):
        return re.sub("[ABCP]", lambda m: f"${m[0]}" if m[0] in symbols and not bound else str(extents[m[0]]), text)

    declared = ", ".join(f"{each}:{{min:0, max:64}}" for each in sorted(symbols))
    head = f"mir_version:2, symbols:{{{declared}}}" if declared else "mir_version:2"
    init = ""
    if name in WEIGHTS:
        init = (f"    graph.SubGraphOp @init <CPU> {{\n        () -> () {{\n            tensor.CPU.register () -> "
                f"(%w:tensor<{shape(WEIGHTS[name], False)}, Float32, CPU>[@w.weight])[symbol:w.weight]\n        }}\n    }}\n")
    text = (f"@main [{head}] (%a:tensor<{shape(first, False)}, {dtype}, CPU>, %b:tensor<{shape(second, False)}, {dtype}, CPU>)"
            f" -> (%y) {{\n{init}    {body.replace('{flag}', str(flag).lower())}\n    cf.ReturnOp (%y) -> ()\n}}\n")
    binds = [f"--bind={each}={extents[each]}" for each in sorted(symbols)]
    return text, binds


def loops_of(text):
    """The loops of each generic op, the outermost first."""
    return [re.findall(r'"?(\w+)"?:', loops) for loops in re.findall(r"GenericOp(?: <[^>]*>)? \[loops:\{([^}]*)\}", text)]


def draw_step(rng, text):
    loops = rng.choice(loops_of(text))
    kind = rng.choice(["split", "tile", "order", "pad", "pack", "fuse-producer", "fuse-consumer", "parallel", "vector", "unroll", "accumulate"])
    some = rng.sample(loops, rng.randint(1, len(loops))) if loops else ["none"]
    if kind in ("split", "tile", "pad"):
        return f"{kind}{{{','.join(f'{each}={rng.choice([1, 2, 3, 4, 8, 16, 40])}' for each in some)}}}"
    if kind == "order":
        return f"order{{outer=[{','.join(some)}]}}"
    if kind in ("parallel", "vector", "unroll"):
        return f"{kind}{{loops=[{','.join(some)}]}}"
    if kind == "accumulate":
        return f"accumulate{{block={rng.choice([2, 3, 8, 16, 40])}{rng.choice(['', ',fma'])}}}"
    return f"{kind}{{operand={rng.randint(0, 1)}}}" if kind in ("pack", "fuse-producer") else kind


def draw_caches(tools, rng, folder, counts):
    """Caches operands in nests.mir. Returns a problem or None."""
    nests, after = folder / "nests.mir", folder / "next.mir"
    for _ in range(rng.randint(0, 3)):
        loops = [name for each in re.findall(r"NestOp \[loops:\{([^}]*)\}", nests.read_text()) for name in re.findall(r'"(\w+)":', each)]
        step = f"cache{{operand={rng.randint(0, 1)},loop={rng.choice([*loops, 'none'])},space=l1}}"
        op = rng.choice(re.findall(r'KernelOp <name="op(\d+)"', nests.read_text()))
        made = run([tools / "mllm-opt", "-p", f"loop.KernelOp(@op{op}:{step})", nests, "-o", after])
        if made.returncode == 0:
            counts["taken"] += 1
            after.replace(nests)
        elif REFUSED.search(made.stderr):
            counts["refused"] += 1
        else:
            return f"step op{op}: {step} fails\n{made.stderr}{nests.read_text()}"
    return None


def draw_schedule(tools, rng, folder, counts):
    """Writes before.mir and after.mir. Returns a problem or None, the text, the values of symbols, and the steps."""
    name = rng.choice(list(MODULES))
    text, binds = module_text(rng, name)
    before, after = folder / "before.mir", folder / "after.mir"
    before.write_text(text)
    made = run([tools / "mllm-opt", "-p", "decompose{to=generic}", before, "-o", after])
    if made.returncode != 0:
        return f"decompose fails\n{made.stderr}", text, binds, []
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
            if step.startswith("accumulate"):
                # The step may change bits. Those after it keep what it makes.
                kept = run([tools / "mllm-opt", "--validate-step", "--claim=bound:4e-3", "--validate=5", after, folder / "next.mir"])
                # Undecided, or beyond the range of Float32.
                beyond = re.search(r": (\S+) before, (?:-?inf|nan) after", kept.stderr)
                is_beyond = beyond is not None and abs(float(beyond[1])) > 1e30
                if kept.returncode != 0 and "MIR0926" not in kept.stderr and not is_beyond:
                    return f"{text}{steps}\nstep op{op}: {step} does not keep its bound\n{kept.stderr}{after.read_text()}", text, binds, steps
                before.write_text((folder / "next.mir").read_text())
            (folder / "next.mir").replace(after)
        elif REFUSED.search(made.stderr):
            counts["refused"] += 1
        else:
            return f"{text}{steps}\nstep op{op}: {step} fails\n{made.stderr}{after.read_text()}", text, binds, steps
    return None, text, binds, steps


def check(tools, rng, folder, counts):
    before, after = folder / "before.mir", folder / "after.mir"
    problem, text, binds, steps = draw_schedule(tools, rng, folder, counts)
    if problem:
        return problem
    inputs = ["-i", "a=random:1", "-i", "b=random:2", *(["-w", "random:3"] if "@w.weight" in text else []), *binds]
    expected = run([tools / "mllm-interp", "--kernels=ref", *inputs, before])
    for options in RUNS:
        found = run([tools / "mllm-interp", *options, *inputs, after])
        if (found.returncode, found.stdout) != (expected.returncode, expected.stdout):
            return (f"{text}{steps} {binds} {options}\n{after.read_text()}expected {expected.stdout}{expected.stderr}"
                    f"found {found.stdout}{found.stderr}")
    nests = folder / "nests.mir"
    made = run([tools / "mllm-opt", "-p", "loops", after, "-o", nests])
    is_lowered = "accumulate:" not in after.read_text()
    if (made.returncode == 0) != is_lowered:
        return f"{text}{steps} {binds}\n{after.read_text()}loops: {made.returncode}\n{made.stderr}"
    problem = draw_caches(tools, rng, folder, counts) if is_lowered and 'KernelOp <name="op' in nests.read_text() else None
    if problem:
        return f"{text}{steps} {binds}\n{problem}"
    found = run([tools / "mllm-interp", "--kernels=ref", *inputs, nests]) if is_lowered else expected
    if (found.returncode, found.stdout) != (expected.returncode, expected.stdout):
        return (f"{text}{steps} {binds}\n{nests.read_text()}expected {expected.stdout}{expected.stderr}"
                f"found {found.stdout}{found.stderr}")
    counts["stopped" if expected.returncode else "equal"] += 1
    return None


PRODUCT = """@main [mir_version:2] (%a:tensor<[13, 31], Float64, CPU>, %b:tensor<[31, 9], Float64, CPU>) -> (%y) {
    linalg.CPU.GenericOp <name="p"> [loops:{i:13, j:9, k:31}, maps:[[$i, $k], [$k, $j], [$i, $j]], sums:{k:add}] (%a, %b) -> (%y) {
        (%x:tensor<[], Float64, CPU>, %w:tensor<[], Float64, CPU>) -> (%z:tensor<[], Float64, CPU>) {
            linalg.CPU.MulOp(%x, %w) -> (%z)
            cf.YieldOp (%z) -> ()
        }
    }
    cf.ReturnOp (%y) -> ()
}
"""
STEPS = ["split{k=8}", "split{i=4}", "order{outer=[j]}", "parallel{loops=[j,i]}", "accumulate{block=8}"]
CLAIMS = ["bits", "bits", "bits", "bits", "bound:1e-5"]
# Nests are made after the third step.
NEST_STEPS = [*STEPS[:3], "loops"]
NEST_CLAIMS = ["bits"] * 4
# Without a remainder in the sum.
PAD_STEPS = ["pad{k=8}", "tile{k=8}", "loops"]
PAD_CLAIMS = ["bits"] * 3
# Parts of operands in buffers.
CACHE_STEPS = [*STEPS[:2], "loops", "cache{operand=0,loop=i,space=l1}", "cache{operand=1,loop=k,space=l1}"]
CACHE_CLAIMS = ["bits"] * 5
# A mistake in what a step makes: its number, and an edit of the text.
MISTAKES = {
    "a bound is one too small": (0, '"8*$k+$k_in < 31"', '"8*$k+$k_in < 30"'),
    "a bound of a sum is missing": (0, ', bounds:["8*$k+$k_in < 31"]', ""),
    "a bound of the result is one too small": (1, "4*$i+$i_in < 13", "4*$i+$i_in < 12"),
    "a bound of the result is one too large": (1, "4*$i+$i_in < 13", "4*$i+$i_in < 14"),
    "a remainder is missing": (1, '"i":4,"i_in":4', '"i":3,"i_in":4'),
    "a tile too few": (1, '"i":4,', '"i":3,'),
    "the terms of a sum are in another order": (1, '"k":4,"k_in":8', '"k_in":8,"k":4'),
    "an index is one too large": (2, "[8*$k+$k_in, $j]", "[8*$k+$k_in, ($j+1) min 8]"),
    "an index has another loop": (2, "[4*$i+$i_in, 8*$k+$k_in]", "[4*$i+$i_in, 8*$k]"),
    "the operands are exchanged": (2, "(%a:tensor<[13, 31], Float64, CPU>, %b:tensor<[31, 9], Float64, CPU>) -> (%y:tensor<[13, 9], Float64, CPU>) {",
                                  "(%b:tensor<[31, 9], Float64, CPU>, %a:tensor<[13, 31], Float64, CPU>) -> (%y:tensor<[13, 9], Float64, CPU>) {"),
    "another operand is read": (2, "(%a:tensor<[13, 31], Float64, CPU>, %b:", "(%b:tensor<[31, 9], Float64, CPU>, %b:"),
    "a loop of a sum is parallel": (3, "parallel:[j, i]", "parallel:[j, k_in]"),
    "an outer loop of a sum is parallel": (3, "parallel:[j, i]", "parallel:[k]"),
    "a block of sums is left out": (4, '"8*$k+$k_in < 31"', '"8*$k+$k_in < 23"'),
    "bits are claimed of a narrower sum": (3, "parallel:[j, i]", "accumulate:{k_in:Float32}, parallel:[j, i]"),
}
NEST_MISTAKES = {
    "a bound of a nest is one too large": (3, 'bounds:["4*$i+$i_in < 13"]', 'bounds:["4*$i+$i_in < 14"]'),
    "a bound of a nest is one too small": (3, 'bounds:["4*$i+$i_in < 13"]', 'bounds:["4*$i+$i_in < 12"]'),
    "a nest has a tile too few": (3, '"k":4,"k_in":8', '"k":3,"k_in":8'),
    "a bound of a sum in a nest is missing": (3, ', bounds:["8*$k+$k_in < 31"]', ""),
    "the terms of a nest are in another order": (3, '"k":4,"k_in":8', '"k_in":8,"k":4'),
    "a sum runs in parallel": (3, '"k":4,"k_in":8}', '"k":4,"k_in":8}, parallel:[k]'),
    "a nest multiplies instead of adding": (3, "join:add", "join:mul"),
    "a write reads the wrong buffer": (3, "loop.ReadOp [at:[]] (%2:!loop.buffer<Float64, []>)", "loop.ReadOp [at:[4*$i+$i_in, $j]] (%1:!loop.buffer<Float64, [13, 9]>)"),
    "an accumulator is not joined": (3, "[at:[], join:add]", "[at:[]]"),
}


PAD_MISTAKES = {
    "elements behind the last one are not neutral": (0, "start:[0.0]", "start:[1.0]"),
    "the last element is left out": (0, '"$i1 <= 30"', '"$i1 <= 29"'),
    "the first element is left out": (0, '"$i0 <= 30"', '"$i0 <= 30", "$i0 >= 1"'),
    "a padded tile is missing": (1, '"k":4,"k_in":8', '"k":3,"k_in":8'),
}
CACHE_MISTAKES = {
    "a copy is an element short": (3, '"c0":4,"c1":31', '"c0":3,"c1":31'),
    "a copy reads another tile": (3, "$c0+4*$i min 12", "$c0 min 12"),
    "a copy ends too early": (3, "$c0+4*$i min 12", "$c0+4*$i min 11"),
    "a copy reads another column": (3, "min 12), $c1]]", "min 12), (30-$c1)]]"),
    "a read of a copy has another index": (3, "[at:[$i_in, 8*$k+$k_in]]", "[at:[$i_in, 8*$k+7-$k_in]]"),
    "a copy is made for the wrong loop": (4, "$c0_2+8*$k min 30", "$c0_2 min 30"),
    "a copy is written elsewhere": (4, "[at:[$c0_2, $c1_2]]", "[at:[7-$c0_2, $c1_2]]"),
}


def first_wrong_step(tools, folder, steps, claims, mistake):
    """The number of the first step whose text is refused, or does not keep its claim; none if all steps are right."""
    before, after = folder / "before_step.mir", folder / "after_step.mir"
    before.write_text(PRODUCT)
    for number, (step, claim) in enumerate(zip(steps, claims)):
        anchor = "loop.KernelOp" if step.startswith("cache") else "linalg.GenericOp"
        made = run([tools / "mllm-opt", "-p", f"{anchor}(@p: {step})", before])
        if made.returncode != 0:
            return number
        edited = made.stdout
        if mistake is not None and mistake[0] == number:
            edited = edited.replace(mistake[1], mistake[2])
            assert edited != made.stdout, f"{mistake[1]} is not in\n{edited}"
        after.write_text(edited)
        if run([tools / "mllm-opt", "--validate-step", before, after, f"--claim={claim}"]).returncode != 0:
            return number
        after.replace(before)
    return None


SCHEDULES = [(STEPS, CLAIMS, MISTAKES), (NEST_STEPS, NEST_CLAIMS, NEST_MISTAKES), (PAD_STEPS, PAD_CLAIMS, PAD_MISTAKES),
             (CACHE_STEPS, CACHE_CLAIMS, CACHE_MISTAKES)]


def rounded(number):
    """The Float32 that is nearest to a fraction."""
    near = np.float32(float(number))
    around = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    least = min(abs(Fraction(float(each)) - number) for each in around)
    nearest = [each for each in around if abs(Fraction(float(each)) - number) == least]
    return next((each for each in nearest if each.view(np.uint32) % 2 == 0), nearest[0]) if len(nearest) > 1 else nearest[0]


def check_accumulation(tools, rng, folder):
    """A product in blocks, by the reference kernel and by exact numbers; a problem or None."""
    dtype = rng.choice(["float32", "float64"])
    rows, columns, depth, block, is_fused = rng.randint(1, 4), rng.randint(1, 4), rng.randint(1, 40), rng.choice([2, 3, 8, 17]), rng.random() < 0.5
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    a, b = (numbers.standard_normal(shape).astype(dtype) for shape in ((rows, depth), (depth, columns)))
    text = re.sub("Float64", dtype.title(), PRODUCT.split("{\n")[0]) + "{\n" + "{\n".join(PRODUCT.split("{\n")[1:])
    for old, new in (("13, 31", f"{rows}, {depth}"), ("31, 9", f"{depth}, {columns}"),
                     ("i:13, j:9, k:31", f"i:{rows}, j:{columns}, k:{depth}")):
        text = text.replace(old, new)
    (folder / "sum.mir").write_text(text)
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    made = run([tools / "mllm-opt", "-p", f"accumulate{{block={block}{',fma' if is_fused else ''}}}", folder / "sum.mir", "-o", folder / "blocks.mir"])
    for kernels in ("ref", "fast"):
        done = run([tools / "mllm-interp", f"--kernels={kernels}", folder / "blocks.mir", "-i", f"a={folder / 'a.npy'}", "-i", f"b={folder / 'b.npy'}",
                    "--print-outputs=no", "-o", folder / "y.npy"])
        if made.returncode or done.returncode:
            return f"{text}{made.stderr}{done.stderr}"
        found = np.load(folder / "y.npy")
        for i in range(rows):
            for j in range(columns):
                total = np.float64(0)
                for first in range(0, depth, block):
                    part = np.float32(0)
                    for k in range(first, min(depth, first + block)):
                        term = np.float64(a[i, k]) * np.float64(b[k, j])
                        part = rounded(Fraction(float(part)) + Fraction(float(term))) if is_fused else np.float32(part + np.float32(term))
                    total = np.float64(part) if depth <= block else total + np.float64(part)
                want = total.astype(dtype)
                if found[i, j].tobytes() != want.tobytes():
                    return f"{text}block {block}, fma {is_fused}, {kernels}: element {i}, {j} is {found[i, j]!r}, expected {want!r}"
                exact = sum(Fraction(float(a[i, k])) * Fraction(float(b[k, j])) for k in range(depth))
                terms = sum(abs(float(a[i, k]) * float(b[k, j])) for k in range(depth))
                bound = 1.01 * (min(block, depth) + 1) * 2.0**-24 * terms + abs(float(want)) * 2.0**-24
                if abs(float(exact - Fraction(float(want)))) > bound:
                    return f"{text}block {block}: element {i}, {j} is {found[i, j]!r}, {float(exact)!r} within {bound}"
    return None


def check_mistakes(tools, folder):
    """A mistake that is not found at its step; none if all are."""
    for steps, claims, mistakes in SCHEDULES:
        assert first_wrong_step(tools, folder, steps, claims, None) is None
        for name, mistake in mistakes.items():
            found = first_wrong_step(tools, folder, steps, claims, mistake)
            if found != mistake[0]:
                return f"{name}, made by step {mistake[0]}, is found at step {found}"
    return None


def main(tools, count=60, seed=1):
    rng = random.Random(int(seed))
    counts = {"taken": 0, "refused": 0, "equal": 0, "stopped": 0}
    with tempfile.TemporaryDirectory() as folder:
        problem = check_mistakes(Path(tools), Path(folder))
        if problem:
            print(problem)
            return 1
        for _ in range(max(1, int(count) // 10)):
            problem = check_accumulation(Path(tools), rng, Path(folder))
            if problem:
                print(problem)
                return 1
        for number in range(int(count)):
            problem = check(Path(tools), rng, Path(folder), counts)
            if problem:
                print(f"schedule {number}: {problem}")
                return 1
    print(", ".join(f"{value} {key}" for key, value in counts.items()) + f"; {sum(len(mistakes) for _, _, mistakes in SCHEDULES)} planted mistakes found")
    return 0 if counts["equal"] and counts["taken"] else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

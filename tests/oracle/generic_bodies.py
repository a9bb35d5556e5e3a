#!/usr/bin/env python3
"""Replaces ops by their generic bodies and compares every bit of the results, on random cases of every op.

The cases are those of op_errors.py, with NaN, infinities and zeros of both signs among the elements of floats. The module
runs by the reference kernels before `decompose{to=generic}`, and by both sets of kernels after it. Each op to which
docs/ops/generic-bodies.md gives a body must be replaced in some case, and no other. `recompose{from=generic}` must find every
op that the page says it finds, with the same bits and, decomposed again, with the same body.

usage: generic_bodies.py TOOLS [OP...]
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
from op_errors import OPS, ROOT, Samples, module_of  # noqa: E402

TRIALS = 16
PAGE = ROOT / "docs/ops/generic-bodies.md"


def with_body():
    """The ops to which the page gives a generic body."""
    rows = re.findall(r"^\| (\w+) \| (yes|no) \|.*\| ([^|]*) \|$", PAGE.read_text(), re.MULTILINE)
    return {name: found for name, answer, found in rows if answer == "yes"}


def with_special(array, rng):
    """Some elements of floats become special ones."""
    if array.dtype.kind != "f" or array.size == 0:
        return array
    chosen = rng.integers(0, 12, array.shape)
    for at, value in enumerate((np.nan, np.inf, -np.inf, 0.0, -0.0)):
        array = np.where(chosen == at, array.dtype.type(value), array)
    return array


def run(command, what):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{what}: {done.stderr}")
    return done.stdout


def results(tools, folder, text, cases, kernels):
    (folder / "run.mir").write_text(text)
    np.savez(folder / "in.npz", **{f"i{c}x{i}": operand for c, case in enumerate(cases) for i, operand in enumerate(case.operands)})
    np.savez(folder / "w.npz", **{f"op{c}{suffix}": w for c, case in enumerate(cases) for suffix, w in case.weights.items()})
    command = [tools / "mllm-interp", folder / "run.mir", f"--output={folder / 'out.npz'}", "--print-outputs=no", f"--kernels={kernels}"]
    command += [f"--input=%i{c}x{i}={folder / 'in.npz'}:i{c}x{i}" for c, case in enumerate(cases) for i in range(len(case.operands))]
    if any(case.weights for case in cases):
        command.append(f"--weights={folder / 'w.npz'}")
    run(command, text)
    with np.load(folder / "out.npz") as out:
        return {name: out[name] for name in out.files}


def kinds_of(text):
    """The kinds of the ops of a module, but not of those in regions."""
    return re.findall(r"^    linalg\.CPU\.(\w+)\b", text, re.MULTILINE)


def check_found(tools, folder, name, before, bodies, found_as):
    """The module with the ops that were found in the bodies of an op."""
    (folder / "bodies.mir").write_text(bodies)
    found = run([tools / "mllm-opt", "-p", "recompose{from=generic}", folder / "bodies.mir", "-o", folder / "found.mir"], before)
    text = (folder / "found.mir").read_text()
    again = run([tools / "mllm-opt", "-p", "decompose{to=generic}", folder / "found.mir"], text)
    allowed = {name, *re.findall(r"\w+Op\b", found_as)}
    if not set(kinds_of(text)) <= allowed or len(kinds_of(text)) != TRIALS:
        raise AssertionError(f"{name}: found {kinds_of(text)}, expected {TRIALS} of {allowed}\n{before}{bodies}{text}")
    numbers = {}

    def renumbered(module):
        numbers.clear()
        return re.sub(r"%\d+", lambda m: numbers.setdefault(m[0], f"%v{len(numbers)}"), module)

    if renumbered(again) != renumbered(bodies):
        raise AssertionError(f"{name}: the ops that are found have other bodies\n{bodies}{text}{again}")
    return text


def check(tools, folder, name, found_as):
    """The number of cases that have a generic body, and of all."""
    function, _, dtypes = OPS[name]
    replaced = total = 0
    for number, dtype in enumerate(dtypes):
        rng = np.random.default_rng([7, number, *name.encode()])
        cases = [function(Samples(rng, dtype)) for _ in range(TRIALS)]
        for case in cases[1::2]:
            case.operands = [with_special(each, rng) for each in case.operands]
            case.weights = {suffix: with_special(each, rng) for suffix, each in case.weights.items()}
        text = module_of(name, cases)
        (folder / "case.mir").write_text(text)
        made = run([tools / "mllm-opt", "-p", "decompose{to=generic}", folder / "case.mir"], text)
        left = len(re.findall(rf"^    linalg\.CPU\.{name}\b", made, re.MULTILINE))
        replaced, total = replaced + TRIALS - left, total + TRIALS
        if left == TRIALS:
            continue
        wanted = results(tools, folder, text, cases, "ref")
        back = check_found(tools, folder, name, text, made, found_as)
        for kernels, module in ("ref", made), ("fast", made), ("ref", back):
            found = results(tools, folder, module, cases, kernels)
            assert sorted(found) == sorted(wanted), (sorted(found), sorted(wanted))
            for key, want in wanted.items():
                got = found[key]
                if want.dtype != got.dtype or want.shape != got.shape or want.tobytes() != got.tobytes():
                    raise AssertionError(f"{name}, {kernels}, %{key}: found\n{got}\nexpected\n{want}\n{made}")
    return replaced, total


def main():
    tools = Path(sys.argv[1])
    has_body = with_body()
    cases = bodies = 0
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for name in sys.argv[2:] or sorted(OPS):
            replaced, total = check(tools, Path(folder), name, has_body.get(name, ""))
            if (replaced > 0) != (name in has_body):
                raise AssertionError(f"{name} is replaced in {replaced} of {total} cases; {PAGE.name} says otherwise")
            cases, bodies = cases + total, bodies + replaced
            if len(sys.argv) > 2:
                print(f"{name}: {replaced} of {total}")
    print(f"{bodies} of {cases} cases have a generic body: equal bits")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Holds what upgrade derives and assumes to what upstream states: each operator and model of the optional
corpus is there as a graph-level dump, which has lost its options, and as a program, which states most.
Where both have an option with another value, the graph-level one must be assumed, not derived, and be one
of OTHERWISE: what upstream did there does not follow from anything in the dump.

usage: corpus_derived.py TOOLS CORPUS

Where CORPUS is absent the test is skipped.
"""

import json
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
GRANTED = ["--assume=rms_eps=1e-6", "--assume=layer_norm_eps=1e-6"]
# Dumps of operators that were traced with an unusual option: the option, what is assumed, what upstream states.
OTHERWISE = {
    ("op_causalmask_swa", "sliding_window", "false", "true"),
    ("op_copy2", "indices", '[{}, {"end":4}, {}]', "[{}, 1:5, {}]"),
    ("op_fn_rmsnorm", "add_unit_offset", "false", "true"),
    ("op_layernorm_noaffine", "eps", "1e-06", "9.999999747378752e-06"),
    ("op_linear_impl_kGGUF", "bias", "false", "true"),
    ("op_rmsnorm", "add_unit_offset", "false", "true"),
    ("op_slice_ssa", "indices", '[{}, {"end":4}, {}]', "[{}, 1:5, {}]"),
    ("op_slice_ssa", "indices", '[{}, {"end":5}, {}]', "[{}, 5:10, {}]"),
}
EVERYTHING = 2147483633  # upstream's number for a bound that is not given
RAW, PROGRAMS = "00_raw.mir", ("11_program.mir", "11_ProgramIntrinsicIdIndex.mir")


def upgraded(tools: str, dump: Path, out: Path) -> list[dict] | None:
    """The report of the upgrade to `out`; none where the dump needs more than GRANTED."""
    report = out.with_suffix(".json")
    done = subprocess.run([f"{tools}/mllm-opt", "-p", "upgrade", *GRANTED, dump, "-o", out,
                           f"--loss-report={report}"], capture_output=True)
    return json.loads(report.read_text())["entries"] if done.returncode == 0 else None


def single(number: str) -> bytes:
    return struct.pack("f", float(number))


def bounds(text: str) -> list[tuple[int, int, int]]:
    """Start, end and step of each dimension; where one is not given upstream means the first or the last element."""
    return [(0 if (start := each.get("start", EVERYTHING)) == EVERYTHING else start, each.get("end", EVERYTHING),
             each.get("step", 1)) for each in json.loads(text)]


def last_element(before: str, after: str) -> bool:
    """From the last element on, counted from the back and from the front: one extent of the result is 1."""
    pairs = [(b, a) for b, a in zip(bounds(before), bounds(after)) if b != a]
    return all(b == (-1, 0, 1) and a[1] - a[0] == 1 for b, a in pairs)


def spelled(key: str, text: str) -> str:
    """Bounds in short, for OTHERWISE."""
    if key != "indices":
        return text
    whole = (0, EVERYTHING, 1)
    return "[" + ", ".join("{}" if each == whole else f"{each[0]}:{each[1]}" for each in bounds(text)) + "]"


def same(op: str, key: str, before: str, after: str) -> bool:
    """Whether two texts mean one value: an element type in quotes, an extent that follows (-1),
    a dimension counted from the back."""
    if key == "indices":
        return bounds(before) == bounds(after) or last_element(before, after)
    if key in ("epsilon", "eps"):
        return single(before) == single(after)
    if key == "to_shape":
        pairs = zip(json.loads(before), json.loads(after))
        return all(b in (a, -1) for a, b in pairs)
    if op.startswith("linalg.TransposeOp"):
        return int(after) < 0
    return before == after.strip('"')


def main(tools: str, corpus: Path) -> int:
    if not corpus.is_dir():
        print(f"skipped: there is no {corpus}", file=sys.stderr)
        return SKIPPED
    pairs, good, otherwise = 0, True, set()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for raw in sorted(corpus.rglob(f"*.{RAW}")):
            programs = [raw.with_name(raw.name.replace(RAW, each)) for each in PROGRAMS]
            program = next((each for each in programs if each.exists()), None)
            losses = program and upgraded(tools, raw, work / "raw.mir")
            if not losses or upgraded(tools, program, work / "program.mir") is None:
                continue
            pairs += 1
            done = subprocess.run([f"{tools}/mllm-diff", "--format=json", work / "raw.mir", work / "program.mir"],
                                  capture_output=True, text=True)
            for difference in json.loads(done.stdout)["differences"] if done.stdout else []:
                option = re.fullmatch(r"attribute '(.*)'", difference["field"] or "")
                if not option or None in (difference["before"], difference["after"]):
                    continue
                op, key = difference["op"], option[1]
                sources = {entry["source"] for entry in losses if (entry["op"], entry["fact"]) == (op, key)}
                if same(op, key, difference["before"], difference["after"]):
                    continue
                name = raw.name.removesuffix("." + RAW)
                other = (name, key, difference["before"], spelled(key, difference["after"]))
                otherwise.add(other)
                if "derived" in sources or other not in OTHERWISE:
                    good = False
                    print(f"{raw.relative_to(corpus)}: {op} {key} is {'/'.join(sources)} as {difference['before']}, "
                          f"upstream states {difference['after']}")
    for other in OTHERWISE - otherwise:
        good = False
        print(f"{other[0]}: {other[1]} is {other[3]} no more where {other[2]} is assumed")
    print(f"{pairs} dumps compared with their programs, {len(otherwise)} options are otherwise")
    return 0 if good and pairs > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))

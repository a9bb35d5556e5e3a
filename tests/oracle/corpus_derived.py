"""Holds what upgrade derives to what upstream states: each operator and model of the optional corpus
is there as a graph-level dump, which has lost its options, and as a program, which states most.
Where both have an option with another value, the graph-level one must be assumed, not derived.

usage: corpus_derived.py TOOLS CORPUS

Where CORPUS is absent the test is skipped.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
GRANTED = ["--assume=rms_eps=1e-6", "--assume=layer_norm_eps=1e-6"]
RAW, PROGRAMS = "00_raw.mir", ("11_program.mir", "11_ProgramIntrinsicIdIndex.mir")


def upgraded(tools: str, dump: Path, out: Path) -> list[dict] | None:
    """The report of the upgrade to `out`; none where the dump needs more than GRANTED."""
    report = out.with_suffix(".json")
    done = subprocess.run([f"{tools}/mllm-opt", "-p", "upgrade", *GRANTED, dump, "-o", out,
                           f"--loss-report={report}"], capture_output=True)
    return json.loads(report.read_text())["entries"] if done.returncode == 0 else None


def same(op: str, key: str, before: str, after: str) -> bool:
    """Whether two texts mean one value: an element type in quotes, an extent that follows (-1),
    a dimension counted from the back."""
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
    pairs, good = 0, True
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for raw in sorted(corpus.rglob(f"*.{RAW}")):
            programs = [raw.with_name(raw.name.replace(RAW, each)) for each in PROGRAMS]
            program = next((each for each in programs if each.exists()), None)
            losses = program and upgraded(tools, raw, work / "raw.mir")
            if not losses or upgraded(tools, program, work / "program.mir") is None:
                continue
            pairs += 1
            done = subprocess.run([f"{tools}/mllm-diff", "--json", work / "raw.mir", work / "program.mir"],
                                  capture_output=True, text=True)
            for difference in json.loads(done.stdout)["differences"] if done.stdout else []:
                option = re.fullmatch(r"attribute '(.*)'", difference["field"] or "")
                if not option or None in (difference["before"], difference["after"]):
                    continue
                op, key = difference["op"], option[1]
                sources = {entry["source"] for entry in losses if (entry["op"], entry["fact"]) == (op, key)}
                if "derived" in sources and not same(op, key, difference["before"], difference["after"]):
                    good = False
                    print(f"{raw.relative_to(corpus)}: {op} {key} is derived as {difference['before']}, "
                          f"upstream states {difference['after']}")
    print(f"{pairs} dumps compared with their programs")
    return 0 if good and pairs > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))

"""Upgrades every dump of the optional corpus and holds what each lost to a committed summary.

usage: corpus_losses.py TOOLS CORPUS SUMMARY

SUMMARY has a line for each dump: how many facts were derived, and which were assumed or lost, by kind
of op and fact. UPDATE_GOLDEN=1 rewrites it, as for golden cases; then the test says it was skipped.
Where CORPUS is absent the test is skipped.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SKIPPED = 77
GRANTED = ["--assume=rms_eps=1e-6", "--assume=layer_norm_eps=1e-6"]


def facts(entries: list[dict], source: str) -> str:
    """`op fact x3, op fact` of the entries from one source."""
    counts = Counter((entry["op"].split(" ")[0], entry["fact"])
                     for entry in entries if entry["source"] == source)
    return ", ".join(f"{op} {fact}" + (f" x{n}" if n > 1 else "") for (op, fact), n in sorted(counts.items()))


def summary(tools: str, dump: Path, work: Path) -> str:
    report = work / "loss.json"
    report.unlink(missing_ok=True)
    done = subprocess.run(
        [f"{tools}/mllm-opt", "-p", "upgrade", *GRANTED, dump, "-o", work / "up.mir",
         f"--loss-report={report}", "--max-errors=0"], capture_output=True, text=True)
    if not report.exists():
        return "not read"
    losses = json.loads(report.read_text())
    text = f"{losses['derived']} derived"
    for source in ("assumed", "refused"):
        if losses[source]:
            text += f"; {source}: {facts(losses['entries'], source)}"
    if done.returncode != 0 and not losses["refused"]:
        text += "; not valid"
    elif done.returncode == 0:
        again = subprocess.run([f"{tools}/mllm-opt", "-p", "upgrade", work / "up.mir"],
                               capture_output=True, text=True, check=True)
        if again.stdout != (work / "up.mir").read_text():
            text += "; upgrading twice changes it"
    return text


def main(tools: str, corpus: Path, expected: Path) -> int:
    if not corpus.is_dir():
        print(f"skipped: there is no {corpus}", file=sys.stderr)
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        lines = [f"{dump.relative_to(corpus)}: {summary(tools, dump, Path(name))}\n"
                 for dump in sorted(corpus.rglob("*.mir"))]
    if os.environ.get("UPDATE_GOLDEN") == "1" and not os.environ.get("CI"):
        expected.write_text("".join(lines))
        return SKIPPED
    known = dict(line.split(": ", 1) for line in expected.read_text().splitlines(keepends=True))
    good = True
    for line in lines:
        dump, text = line.split(": ", 1)
        if dump in known and known[dump] != text:
            good = False
            print(f"{dump}\n  expected {known[dump]}  found    {text}", end="")
    print(f"{len(lines)} dumps, {sum('refused' not in line and 'not ' not in line for line in lines)} upgraded")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))

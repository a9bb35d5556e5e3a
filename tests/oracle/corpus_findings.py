"""Verifies every dump of the optional corpus and holds what is found to a committed summary.

usage: corpus_findings.py TOOLS CORPUS SUMMARY

SUMMARY has a line for each dump: `MIRnnnn xCOUNT @LINE` for each code, with the line of its first place;
`!` marks errors, which only dumps of synth/ may have. UPDATE_GOLDEN=1 rewrites it, as for golden cases;
then the test says it was skipped. Where CORPUS is absent the test is skipped.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

SKIPPED = 77


def findings(tools: str, dump: Path) -> str:
    done = subprocess.run(
        [f"{tools}/mllm-parse", "--summary", "--diagnostics=json", "--max-errors=0", dump],
        capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return f"exit status {done.returncode}"
    counts = [json.loads(line) for line in (done.stdout + done.stderr).splitlines()]
    return ", ".join(f"{'!' if each['severity'] == 'error' else ''}{each['code']} x{each['count']}"
                     f" @{each['line']}" for each in counts) or "nothing"


def main(tools: str, corpus: Path, expected: Path) -> int:
    if not corpus.is_dir():
        print(f"skipped: there is no {corpus}", file=sys.stderr)
        return SKIPPED
    found = {str(dump.relative_to(corpus)): findings(tools, dump)
             for dump in sorted(corpus.rglob("*.mir"))}
    if os.environ.get("UPDATE_GOLDEN") == "1" and not os.environ.get("CI"):
        expected.write_text("".join(f"{dump}: {text}\n" for dump, text in found.items()))
        return SKIPPED
    known = dict(line.split(": ", 1) for line in expected.read_text().splitlines())
    good = True
    for dump, text in found.items():
        if dump in known and known[dump] != text:
            good = False
            print(f"{dump}\n  expected {known[dump]}\n  found    {text}")
        if "!" in text and "synth" not in dump:
            good = False
            print(f"{dump}: errors at the level of dumps: {text}")
    print(f"{len(found)} dumps, {sum(text == 'nothing' for text in found.values())} without a finding")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))

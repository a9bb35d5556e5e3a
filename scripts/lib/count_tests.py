#!/usr/bin/env python3
"""Counts test cases in Meson's testlog.json files: `N passed, N failed[, N skipped]`.

usage: count_tests.py {TESTLOG STATUS}...

A program that reports its own cases (doctest's summary line, TAP) counts with each of them, any
other as one. A program that failed counts at least one failure whatever it printed, and so does a
run of status other than 0, with a log or without. Exits 1 when anything failed.
"""

import json
import re
import sys
from pathlib import Path

DOCTEST = re.compile(
    r"^\[doctest\] test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed(?: \|\s*(\d+) skipped)?", re.M)
TAP = re.compile(r"^(not )?ok\b([^\n]*)", re.M)
PASSED = {"OK", "EXPECTEDFAIL"}


def count(result: str, output: str) -> tuple[int, int, int]:
    """Cases passed, failed and skipped by one program."""
    passed = failed = skipped = 0
    # After a crash the last summary is the one of all processes.
    if summaries := DOCTEST.findall(output):
        passed, failed, skipped = (int(group or 0) for group in summaries[-1])
    elif output.startswith(("1..", "TAP version")):
        for negated, rest in TAP.findall(output):
            if re.search(r"# skip\b", rest, re.I):
                skipped += 1
            elif negated:
                failed += 1
            else:
                passed += 1
    if result == "SKIP":
        return 0, 0, max(skipped, 1)
    if result not in PASSED:
        return passed, max(failed, 1), skipped
    return max(passed, 0 if skipped else 1), failed, skipped


def count_run(log: Path, status: int) -> list[int]:
    """Cases passed, failed and skipped by one run; one that ended badly failed at least once."""
    totals = [0, 0, 0]
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        test = json.loads(line)
        for index, number in enumerate(count(test["result"], test.get("stdout", ""))):
            totals[index] += number
    if totals[1] == 0 and (status != 0 or not log.exists()):
        totals[1] = 1
    return totals


def main(*runs: str) -> int:
    counted = [count_run(Path(log), int(status)) for log, status in zip(runs[::2], runs[1::2])]
    passed, failed, skipped = map(sum, zip([0, 0, 0], *counted))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not counted else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

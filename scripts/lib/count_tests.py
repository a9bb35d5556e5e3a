#!/usr/bin/env python3
"""Counts test cases in Meson's testlog.json files: `N passed, N failed[, N skipped]`.

usage: count_tests.py {TESTLOG STATUS}...

Each program that failed is named before that last line, with what it says of its failures: a run
of several configurations prints too much for anyone to look for them.

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
# A line that says what failed: doctest's, TAP's, Python's and those of a sanitizer.
TELLING = re.compile(r"error|fail|^not ok|^TEST CASE|Sanitizer|Assertion", re.I)
MOST_LINES = 12


def count(result: str, output: str, is_part: bool = False) -> tuple[int, int, int]:
    """Cases passed, failed and skipped by one program, of which a part of the cases may have been asked for."""
    passed = failed = skipped = 0
    # After a crash the last summary is the one of all processes.
    if summaries := DOCTEST.findall(output):
        passed, failed, skipped = (int(group or 0) for group in summaries[-1])
        skipped = 0 if is_part else skipped
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


def count_of(test: dict) -> tuple[int, int, int]:
    """The same for an entry of a log."""
    is_part = any(word.startswith(("--test-case=", "--source-file=")) for word in test.get("command", []))
    return count(test["result"], test.get("stdout", ""), is_part)


def results(log: Path) -> list[dict]:
    """The programs of one run."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [json.loads(line) for line in lines]


def report(log: Path) -> list[str]:
    """Names each program of a run that failed, with the first of its telling lines and its last."""
    lines = []
    for test in results(log):
        if count_of(test)[1] == 0:
            continue
        printed = (test.get("stdout", "") + test.get("stderr", "")).splitlines()
        telling = [line for line in printed if TELLING.search(line)][:MOST_LINES]
        lines.append(f"{log.parent.parent.name}: {test.get('name', '?')}: {test['result']}")
        lines += [f"  {line[:300]}" for line in telling + printed[-3:]]
    return lines


def count_run(log: Path, status: int) -> list[int]:
    """Cases passed, failed and skipped by one run; one that ended badly failed at least once."""
    totals = [0, 0, 0]
    for test in results(log):
        for index, number in enumerate(count_of(test)):
            totals[index] += number
    if totals[1] == 0 and (status != 0 or not log.exists()):
        totals[1] = 1
    return totals


def main(*runs: str) -> int:
    counted = [count_run(Path(log), int(status)) for log, status in zip(runs[::2], runs[1::2])]
    for line in [line for log in runs[::2] for line in report(Path(log))]:
        print(line)
    passed, failed, skipped = map(sum, zip([0, 0, 0], *counted))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not counted else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

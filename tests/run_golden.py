#!/usr/bin/env python3
"""Runs golden files: inputs that say in their first lines which command is run on them.

usage: run_golden.py [--tools DIR] PATH...

docs/testing.md describes the directives. PATH is a case or a folder of cases. Prints TAP; with
UPDATE_GOLDEN=1 expectations are rewritten and each case is reported as skipped, never as passed.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

DIRECTIVE = re.compile(r"^// (RUN|EXIT|CHECK): ?(.*)$")
TIMEOUT_SECONDS = 60
MATERIAL = {"data", "examples", "compatibility"}  # folders that hold no cases


@dataclass
class Case:
    path: Path
    runs: list[tuple[str, int]] = field(default_factory=list)  # command, expected exit status
    checks: list[str] = field(default_factory=list)

    def expectation(self, stream: str) -> Path:
        return self.path.with_suffix(f".{stream}")


def read_case(path: Path) -> Case:
    case = Case(path)
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if not (match := DIRECTIVE.match(line)):
            continue
        keyword, text = match.groups()
        if keyword == "RUN":
            case.runs.append((text, 0))
        elif keyword == "EXIT" and case.runs:
            case.runs[-1] = (case.runs[-1][0], int(text))
        elif keyword == "CHECK":
            case.checks.append(text)
    return case


def find_cases(paths: list[str]) -> list[Case]:
    """Cases below `paths` in order, but for folders of material."""
    files = []
    for path in map(Path, paths):
        below = sorted(path.rglob("*")) if path.is_dir() else [path]
        files += [file for file in below if file.suffix in (".mir", ".test") and
                  not MATERIAL & set(file.relative_to(path).parts[:-1])]
    return [read_case(file) for file in files]


def execute(case: Case, tools: str) -> tuple[dict[str, str], list[str]]:
    """Output of all commands of a case, and complaints about their exit statuses."""
    output = {"out": "", "err": ""}
    complaints = []
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / case.path.name).write_bytes(case.path.read_bytes())
        folder = str(case.path.resolve().parent)
        for command, expected in case.runs:
            line = command.replace("%s", case.path.name).replace("%S", folder).replace("%%", "%")
            try:
                run = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=scratch,
                                     env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                     timeout=TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                complaints.append(f"'{command}' ran longer than {TIMEOUT_SECONDS} s")
                continue
            for stream, data in (("out", run.stdout), ("err", run.stderr)):
                text = data.decode("utf-8", errors="backslashreplace")
                output[stream] += text.replace(folder, "%S").replace(scratch, "%T")
            if run.returncode != expected:
                complaints.append(f"'{command}' ended with {run.returncode}, expected {expected}")
    return output, complaints


def missing_check(checks: list[str], text: str) -> str | None:
    """The first CHECK text that does not follow those before it."""
    position = 0
    for check in checks:
        found = text.find(check, position)
        if found < 0:
            return check
        position = found + len(check)
    return None


def compare(case: Case, output: dict[str, str]) -> list[str]:
    complaints = []
    for stream, text in output.items():
        if stream == "out" and case.checks:
            if (check := missing_check(case.checks, text)) is not None:
                complaints += [f"no output line holds '{check}' after the checks before it",
                               *text.splitlines()]
            continue
        path = case.expectation(stream)
        expected = path.read_text(encoding="utf-8") if path.exists() else ""
        if text != expected:
            complaints += difflib.unified_diff(expected.splitlines(), text.splitlines(),
                                               str(path), "output", lineterm="")
            if text.splitlines() == expected.splitlines():
                complaints.append("the output differs in its line ends")
    return complaints


def update(case: Case, output: dict[str, str]) -> None:
    for stream, text in output.items():
        path = case.expectation(stream)
        if text and not (stream == "out" and case.checks):
            path.write_text(text, encoding="utf-8", newline="")
        else:
            path.unlink(missing_ok=True)


def report(number: int, case: Case, tools: str, updating: bool) -> bool:
    """Prints the TAP lines of one case; true when it did not fail."""
    if not case.runs:
        complaints = ["no line '// RUN: command'"]
    else:
        output, complaints = execute(case, tools)
        if updating and not complaints:
            update(case, output)
            print(f"ok {number} - {case.path} # SKIP updated", flush=True)
            return True
        complaints += compare(case, output)
    print(f"{'not ok' if complaints else 'ok'} {number} - {case.path}")
    for line in complaints:
        print(f"# {line}")
    if complaints:
        print(f"# to accept: UPDATE_GOLDEN=1 tests/run_golden.py --tools {tools} {case.path}", flush=True)
    return not complaints


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", default="build/tools", help="folder of the programs under test")
    parser.add_argument("paths", nargs="+")
    arguments = parser.parse_args()
    updating = os.environ.get("UPDATE_GOLDEN", "") not in ("", "0")
    if updating and os.environ.get("CI"):
        print("Bail out! UPDATE_GOLDEN is set in CI")
        return 1
    cases = find_cases(arguments.paths)
    print(f"1..{len(cases)}" + ("" if cases else " # SKIP no golden files"))
    tools = str(Path(arguments.tools).resolve())
    results = [report(number, case, tools, updating) for number, case in enumerate(cases, 1)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

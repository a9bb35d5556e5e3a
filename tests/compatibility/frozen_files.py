#!/usr/bin/env python3
"""Holds the tools to the frozen files of every version of the language: docs/compatibility.md.

Each folder of FILES is a version. Its `frozen.json` names every file with its SHA-256 and every run
with the hashes of its outputs. A frozen file is never changed; new ones may be added.

usage: frozen_files.py TOOLS FILES
"""

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path


class Failures:
    def __init__(self):
        self.count = 0

    def check(self, holds, text):
        if not holds:
            self.count += 1
            print(text)


def check_files(folder, frozen, failures):
    found = {path.name for path in folder.iterdir()} - {"frozen.json"}
    failures.check(found == frozen["files"].keys(), f"{folder}: files {sorted(found)}, listed are others")
    for name in sorted(found & frozen["files"].keys()):
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        failures.check(digest == frozen["files"][name], f"{folder / name}: a frozen file has changed")


def run_interp(tools, folder, arguments, scratch):
    report = scratch / "report.json"
    report.unlink(missing_ok=True)
    result = subprocess.run([tools / "mllm-interp", *arguments, "--print-outputs=no", f"--report={report}"], cwd=folder,
                            capture_output=True, text=True)
    if result.returncode != 0 or not report.exists():
        return None, result.stdout + result.stderr
    runs = json.loads(report.read_text())["runs"]
    return [[each["tensor"]["hash"] for each in run["outputs"]] for run in runs], ""


def check_runs(tools, folder, frozen, failures):
    with tempfile.TemporaryDirectory() as scratch:
        for run in frozen["runs"]:
            hashes, trouble = run_interp(tools, folder, run["arguments"], Path(scratch))
            failures.check(hashes == run["hashes"],
                           f"{folder}: {' '.join(run['arguments'])}: {hashes}, expected {run['hashes']}\n{trouble}")


def check_texts(tools, folder, version, failures):
    """A text reads back byte by byte; with a module of a later version it is one error."""
    for path in sorted(folder.glob("*.mir")):
        same = subprocess.run([tools / "mllm-parse", "--roundtrip", path], capture_output=True)
        failures.check(same.returncode == 0, f"{path}: {same.stderr.decode()}")
        text = path.read_text().replace(f"mir_version:{version}", "mir_version:999", 1)
        for tool in ("mllm-parse", "mllm-interp", "mllm-opt"):
            newer = subprocess.run([tools / tool, "--diagnostics=json", "-"], input=text, capture_output=True, text=True)
            lines = [line for line in newer.stderr.splitlines() if line.startswith("{")]
            errors = [each["code"] for each in map(json.loads, lines) if each.get("severity") == "error"]
            failures.check(newer.returncode == 1 and errors == ["MIR0307"],
                           f"{path}, as a newer version, {tool}: {newer.returncode}, {errors}")


def main():
    tools, files = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    failures = Failures()
    versions = sorted(files.iterdir())
    failures.check(bool(versions), f"{files} holds no version")
    for folder in versions:
        frozen = json.loads((folder / "frozen.json").read_text())
        check_files(folder, frozen, failures)
        check_runs(tools, folder, frozen, failures)
        check_texts(tools, folder, folder.name, failures)
        print(f"version {folder.name}: {len(frozen['files'])} files, {len(frozen['runs'])} runs")
    sys.exit(1 if failures.count else 0)


if __name__ == "__main__":
    main()

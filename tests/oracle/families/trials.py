"""Runs the checks of a script one by one, each in a folder of its own, and reports what failed."""

import sys
import tempfile
from pathlib import Path


def run_trials(check, cases):
    """Calls check(tools, name, folder) for the cases that the command line names, or for all; returns the exit status."""
    tools, names = Path(sys.argv[1]).resolve(), sys.argv[2:] or cases
    failed = 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(f"{name}: {check(tools, name, Path(folder))}", flush=True)
            except AssertionError as error:
                print(f"{name}: {error}", flush=True)
                failed += 1
    return 1 if failed else 0

#!/usr/bin/env python3
"""Checks that a file is what a Python script prints.

usage: same_output.py FILE SCRIPT [ARGUMENT...]
"""

import difflib
import subprocess
import sys
from pathlib import Path


def main(name: str, *command: str) -> int:
    expected = Path(name).read_text(encoding="utf-8").splitlines(keepends=True)
    done = subprocess.run([sys.executable, *command], stdout=subprocess.PIPE, text=True, check=False)
    printed = done.stdout.splitlines(keepends=True)
    sys.stdout.writelines(difflib.unified_diff(expected, printed, name, "printed"))
    return 1 if done.returncode != 0 or printed != expected else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

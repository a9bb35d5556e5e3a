#!/usr/bin/env python3
"""Compiles every public header alone, so that each includes what it uses.

usage: check_headers.py INCLUDE_DIR COMPILER [ARGUMENT...]
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def problem_with(header: Path, include_dir: Path, compiler: list[str]) -> str:
    """The compiler's complaint about a file that includes only `header`; empty when it has none."""
    source = f'#include "{header.relative_to(include_dir).as_posix()}"\n'
    command = [*compiler, "-fsyntax-only", f"-I{include_dir}", "-x", "c++", "-"]
    run = subprocess.run(command, input=source, text=True, capture_output=True)
    return "" if run.returncode == 0 else f"{header}:\n{run.stderr}"


def main(include: str, *compiler: str) -> int:
    include_dir = Path(include)
    headers = sorted(include_dir.rglob("*.hpp"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = list(pool.map(lambda path: problem_with(path, include_dir, list(compiler)), headers))
    print(f"{len(headers)} headers")
    for problem in filter(None, problems):
        print(problem, file=sys.stderr)
    return 1 if any(problems) or not headers else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

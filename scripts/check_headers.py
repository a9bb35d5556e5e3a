#!/usr/bin/env python3
"""Compiles public headers alone, so that each includes what it uses.

The build does so for a header that a source includes before anything else; here the others are compiled.

usage: check_headers.py INCLUDE_DIR SOURCE_DIR COMPILER [ARGUMENT...]
"""

import os
import re
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


def included_first(source: Path) -> str:
    """What a source includes before any other text that is not a comment."""
    text = re.sub(r"//[^\n]*", "", source.read_text(encoding="utf-8")).lstrip()
    first = re.match(r'#include "([^"]+)"', text)
    return first[1] if first else ""


def main(include: str, sources: str, *compiler: str) -> int:
    include_dir = Path(include)
    headers = sorted(include_dir.rglob("*.hpp"))
    built = {included_first(source) for source in Path(sources).rglob("*.cpp")}
    others = [path for path in headers if path.relative_to(include_dir).as_posix() not in built]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = list(pool.map(lambda path: problem_with(path, include_dir, list(compiler)), others))
    print(f"{len(headers)} headers, {len(headers) - len(others)} of them first in a source")
    for problem in filter(None, problems):
        print(problem, file=sys.stderr)
    return 1 if any(problems) or not headers else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

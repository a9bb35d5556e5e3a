#!/usr/bin/env python3
"""Everything that the libraries in mllm-opt define in namespace mir is exported to plugins.

usage: exported_symbols.py MLLM_OPT LIBRARY...
"""

import re
import subprocess
import sys

OF_PROJECT = re.compile(r"_ZN?K?3mir")
STRONG = set("TBDR")  # others are defined in headers, and so in the plugin itself


def symbols(*command: str) -> set[str]:
    lines = subprocess.run(["nm", "--defined-only", *command], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in lines.splitlines()]
    return {name for _, kind, name in (each for each in words if len(each) == 3)
            if kind in STRONG and OF_PROJECT.match(name)}


def main(tool: str, *libraries: str) -> int:
    defined = symbols(*libraries)
    missing = defined - symbols("--dynamic", tool)
    print(*sorted(missing)[:20], f"{len(defined)} symbols, {len(missing)} not exported", sep="\n")
    return 1 if missing or len(defined) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

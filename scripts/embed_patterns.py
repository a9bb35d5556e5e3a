#!/usr/bin/env python3
"""Writes files of patterns as a C++ table of their texts by name.

usage: embed_patterns.py OUTPUT FILE...
"""

import sys
from pathlib import Path

DELIMITER = "MIR_PATTERNS"


def main() -> int:
    output, *files = map(Path, sys.argv[1:])
    rows = [f'    {{"{path.stem}", R"{DELIMITER}({path.read_text(encoding="utf-8")}){DELIMITER}"}},\n'
            for path in files]
    output.write_text("// Made by scripts/embed_patterns.py.\n" + "".join(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

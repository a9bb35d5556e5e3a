#!/usr/bin/env python3
"""Writes texts of IR as a C++ table by their names: FILEs, or all of a FOLDER, in order of their names.

A depfile names the folder, too, so that a new file in it is found.

usage: embed_texts.py OUTPUT [--depfile DEPFILE] (--folder FOLDER | FILE...)
"""

import argparse
import sys
from pathlib import Path

DELIMITER = "MIR_TEXT"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=Path)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--depfile", type=Path)
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.mir")) if options.folder else options.files
    rows = [f'    {{"{path.stem}", R"{DELIMITER}({path.read_text(encoding="utf-8")}){DELIMITER}"}},\n'
            for path in sorted(files, key=lambda path: path.stem)]
    options.output.write_text("// Made by scripts/embed_texts.py.\n" + "".join(rows), encoding="utf-8")
    if options.depfile:
        needed = " ".join(str(path).replace(" ", "\\ ") for path in [options.folder, *files])
        options.depfile.write_text(f"{options.output}: {needed}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

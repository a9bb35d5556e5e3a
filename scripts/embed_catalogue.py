#!/usr/bin/env python3
"""Writes the entries of the diagnostics catalogue as a C++ table, and a depfile for the build.

usage: embed_catalogue.py OUTPUT DEPFILE FOLDER
"""

import re
import sys
from pathlib import Path

ENTRY = re.compile(r"MIR\d{4}\.(mir|test|err|cpp)|data/.*\.mir")
DELIMITER = "MIR_ENTRY"


def main() -> int:
    output, depfile, folder = map(Path, sys.argv[1:])
    names = sorted(name for path in folder.rglob("*")
                   if ENTRY.fullmatch(name := str(path.relative_to(folder))))
    files = [folder / name for name in names]
    rows = []
    for name, path in zip(names, files):
        text = path.read_text(encoding="utf-8")
        if f"){DELIMITER}\"" in text:
            print(f"{path}: holds the delimiter of its C++ literal", file=sys.stderr)
            return 1
        rows.append(f'    {{"{name}", R"{DELIMITER}({text}){DELIMITER}"}},\n')
    output.write_text('#include "catalogue_files.hpp"\n\nnamespace mir {\n\nnamespace {\n\n'
                      "constexpr CatalogueFile kFiles[] = {\n" + "".join(rows) + "};\n\n"
                      "}  // namespace\n\nstd::span<const CatalogueFile> catalogue_files() {\n"
                      "  return kFiles;\n}\n\n}  // namespace mir\n", encoding="utf-8")
    # A new entry changes its folder.
    read = sorted({path.parent for path in files} | {folder}) + files
    depfile.write_text(f"{output}: {' '.join(map(str, read))}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

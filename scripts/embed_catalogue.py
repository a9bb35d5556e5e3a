#!/usr/bin/env python3
"""Writes the diagnostics catalogue, and the constraints of the documents, as C++ tables, and a
depfile for the build.

usage: embed_catalogue.py OUTPUT DEPFILE FOLDER DOCS
"""

import re
import sys
from pathlib import Path

ENTRY = re.compile(r"MIR\d{4}\.(mir|test|err|cpp)|data/.*\.mir")
DELIMITER = "MIR_ENTRY"
# An item of a list: "- `ssa_c1` A value is used below its definition. (MIR0407)"
CONSTRAINT = re.compile(r"^- `(\w+_c\d+)` (.*(?:\n  .*)*)", re.MULTILINE)
CODES = re.compile(r"\s*\(([^()]*MIR\d{4}[^()]*)\)")


def constraint_rows(docs: Path, pages: list) -> list:
    """One row for each code that a constraint is reported under."""
    rows = []
    for page in pages:
        name = page.relative_to(docs)
        for constraint, text in CONSTRAINT.findall(page.read_text(encoding="utf-8")):
            codes = re.findall(r"MIR\d{4}", " ".join(CODES.findall(text)))
            prose = " ".join(CODES.sub("", text).split())
            rows += [f'    {{{int(code[3:])}, "{constraint}", "{name}", '
                     f'R"{DELIMITER}({prose}){DELIMITER}"}},\n' for code in codes]
    return rows


def main() -> int:
    output, depfile, folder, docs = map(Path, sys.argv[1:])
    names = sorted(name for path in folder.rglob("*")
                   if ENTRY.fullmatch(name := str(path.relative_to(folder))))
    files = [folder / name for name in names]
    pages = [docs / "verification.md", *sorted((docs / "ops").glob("*.md"))]
    rows = []
    for name, path in zip(names, files):
        text = path.read_text(encoding="utf-8")
        if f"){DELIMITER}\"" in text:
            print(f"{path}: holds the delimiter of its C++ literal", file=sys.stderr)
            return 1
        rows.append(f'    {{"{name}", R"{DELIMITER}({text}){DELIMITER}"}},\n')
    output.write_text('#include "catalogue_files.hpp"\n\nnamespace mir {\n\nnamespace {\n\n'
                      "constexpr CatalogueFile kFiles[] = {\n" + "".join(rows) + "};\n\n"
                      "constexpr CatalogueConstraint kConstraints[] = {\n"
                      + "".join(constraint_rows(docs, pages)) + "};\n\n"
                      "}  // namespace\n\nstd::span<const CatalogueFile> catalogue_files() {\n"
                      "  return kFiles;\n}\n\n"
                      "std::span<const CatalogueConstraint> catalogue_constraints() {\n"
                      "  return kConstraints;\n}\n\n}  // namespace mir\n", encoding="utf-8")
    # A new entry changes its folder.
    read = sorted({path.parent for path in files + pages} | {folder}) + files + pages
    depfile.write_text(f"{output}: {' '.join(map(str, read))}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Writes the diagnostics catalogue, and the constraints of the documents, as C++ tables, and a
depfile for the build.

usage: embed_catalogue.py OUTPUT DEPFILE FOLDER DOCS
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from documents import headings, read_document

ENTRY = re.compile(r"MIR\d{4}\.(mir|test|err|cpp)|data/.*\.mir")
DELIMITER = "MIR_ENTRY"
# An item of a list: "- `ssa_c1` A value is used below its definition. (MIR0407)"
CONSTRAINT = re.compile(r"^- `(\w+_c\d+)` (.*(?:\n  .*)*)", re.MULTILINE)
CODES = re.compile(r"\s*\(([^()]*MIR\d{4}[^()]*)\)")


def read_constraints(docs: Path, pages: list) -> list:
    """Name, text and page with the anchor of its section, of each constraint."""
    constraints = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        sections = headings(read_document(docs, page.relative_to(docs)).prose)
        for match in CONSTRAINT.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            anchor = [anchor for number, anchor in sections if number < line][-1]
            constraints.append((match[1], match[2], f"{page.relative_to(docs)}#{anchor}"))
    return constraints


def constraint_rows(constraints: list) -> list:
    """One row for each code that a constraint is reported under."""
    rows = []
    for name, text, _ in constraints:
        codes = re.findall(r"MIR\d{4}", " ".join(CODES.findall(text)))
        prose = " ".join(CODES.sub("", text).split())
        rows += [f'    {{{int(code[3:])}, "{name}", R"{DELIMITER}({prose}){DELIMITER}"}},\n' for code in codes]
    return rows


def main() -> int:
    output, depfile, folder, docs = map(Path, sys.argv[1:])
    names = sorted(name for path in folder.rglob("*")
                   if ENTRY.fullmatch(name := str(path.relative_to(folder))))
    files = [folder / name for name in names]
    pages = [docs / "verification.md", *sorted((docs / "ops").glob("*.md"))]
    constraints = read_constraints(docs, pages)
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
                      + "".join(constraint_rows(constraints)) + "};\n\n"
                      "constexpr ConstraintPage kPages[] = {\n"
                      + "".join(f'    {{"{name}", "{page}"}},\n' for name, _, page in sorted(constraints))
                      + "};\n\n"
                      "}  // namespace\n\nstd::span<const CatalogueFile> catalogue_files() {\n"
                      "  return kFiles;\n}\n\n"
                      "std::span<const CatalogueConstraint> catalogue_constraints() {\n"
                      "  return kConstraints;\n}\n\n"
                      "std::span<const ConstraintPage> constraint_pages() {\n"
                      "  return kPages;\n}\n\n}  // namespace mir\n", encoding="utf-8")
    # A new entry changes its folder.
    read = sorted({path.parent for path in files + pages} | {folder}) + files + pages
    depfile.write_text(f"{output}: {' '.join(map(str, read))}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

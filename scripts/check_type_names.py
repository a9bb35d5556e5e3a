#!/usr/bin/env python3
"""Checks that every type in a header has a name of its own in its namespace.

Two types of one name in different headers compile and link: whichever copy of a shared template the
linker keeps then serves both. Names each such pair and exits 1.

usage: check_type_names.py [ROOT]
"""

import re
from pathlib import Path

from lib import lint

FOLDERS = ["include", "src", "tools"]
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.M)
# A definition at namespace scope; `class Outer::Inner {` belongs to Outer.
DEFINITION = re.compile(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: : [^;{]*)?\s*\{", re.M)


def definitions(text: str) -> list[tuple[str, int]]:
    """Qualified names of the types a header defines, each with its line."""
    found = []
    for match in DEFINITION.finditer(text):
        before = text[:match.start()]
        namespaces = NAMESPACE.findall(before)
        found.append((f"{namespaces[-1] if namespaces else ''}::{match[1]}", before.count("\n") + 1))
    return found


def check(root: Path) -> list[str]:
    first: dict[str, str] = {}
    problems = []
    for header in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.hpp")):
        for name, line in definitions(header.read_text()):
            place = f"{header.relative_to(root).as_posix()}:{line}"
            if name in first:
                problems.append(f"{place}: type '{name}' is also defined at {first[name]}")
            first.setdefault(name, place)
    return problems


if __name__ == "__main__":
    lint.main(check)

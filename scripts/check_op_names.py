#!/usr/bin/env python3
"""Checks that code about programs names ops by their OpId, never by a string.

An op's class name and type name are facts of its row. A string literal of them in another place goes stale when
the row changes, and compares equal to the name of another op that has the same type name. Names each such literal
and exits 1.

usage: check_op_names.py [ROOT]
"""

import re
from pathlib import Path

from lib import lint

FOLDERS = ["src/program", "src/upgrade"]
CLASS_NAME = re.compile(r'\.name = "(\w+Op)"')
TYPE_NAME = re.compile(r'\.type_name = "(\w+)"')
COMMENT = re.compile(r"//[^\n]*")
# A name with what may stand around it in a spelling: "linalg.{}.CopyOp", "RMSNorm.{}".
LITERAL = re.compile(r'"([\w.{}]+)"')


def op_names(root: Path) -> set[str]:
    """The class names and type names that the rows of all dialects declare."""
    names: set[str] = set()
    for table in (root / "src/dialects").rglob("*.[ch]pp"):
        text = table.read_text(encoding="utf-8")
        names.update(CLASS_NAME.findall(text), TYPE_NAME.findall(text))
    return names


def check(root: Path) -> list[str]:
    names = op_names(root)
    problems = []
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.[ch]pp")):
        text = COMMENT.sub("", path.read_text(encoding="utf-8"))
        for match in LITERAL.finditer(text):
            for name in names.intersection(match[1].split(".")):
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{path.relative_to(root).as_posix()}:{line}: "
                                f"op name '{name}' as a string, expected its OpId or its row")
    return problems


if __name__ == "__main__":
    lint.main(check)

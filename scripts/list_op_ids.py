#!/usr/bin/env python3
"""Writes the names and aliases of the ops that the row tables declare, as entries of `mir/op_ids.def`.

A table file holds arrays of `OpRow`, each row beginning with its name. A file that declares a dialect gives
its rows to it; a header of rows gives them to the dialect that its folder is named after, whose rows are
sorted by name. Dialects keep the order of the files. The tables themselves assert at compile time that their
rows are these in this order, so nothing that this script overlooks can pass.

usage: list_op_ids.py OUTPUT TABLE...
"""

import re
import sys
from pathlib import Path

DIALECT = re.compile(r'^constinit const Dialect k\w+\{\s*\.name = "(\w+)"', re.M)
ROWS = re.compile(r"^(?:inline )?constexpr OpRow k\w+\[\] = \{\n(.*?)^\};", re.M | re.S)
ROW = re.compile(r'^    \{\.name = "(\w+)",(.*?)(?=^    \{\.name|\Z)', re.M | re.S)
ALIASES = re.compile(r"^(?:inline )?constexpr std::string_view (k\w+)\[\] = \{(.*?)\};", re.M | re.S)

Row = tuple[str, list[str]]  # a name and its aliases


def camel(name: str) -> str:
    """"KVCacheOp" as "KVCache", "kernel_launch" as "KernelLaunch"."""
    return "".join(part[0].upper() + part[1:] for part in name.removesuffix("Op").split("_"))


def rows_of(text: str) -> list[Row]:
    """The rows of a table's text, in its order."""
    lists = {name: re.findall(r'"(\w+)"', items) for name, items in ALIASES.findall(text)}
    rows = []
    for name, fields in (row for block in ROWS.findall(text) for row in ROW.findall(block)):
        aliases = re.search(r"\.aliases = (k\w+)", fields)
        rows.append((name, lists[aliases[1]] if aliases else []))
    return rows


def rows_by_dialect(tables: list[Path]) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for table in tables:
        text = table.read_text(encoding="utf-8")
        declared = DIALECT.search(text)
        dialect = declared[1] if declared else table.parent.name
        rows.setdefault(dialect, []).extend(rows_of(text))
        if not declared:
            rows[dialect].sort()
    return rows


def entries(rows: dict[str, list[Row]]) -> str:
    lines = ["// Made from the row tables of the dialects by scripts/list_op_ids.py.\n"]
    for dialect, ops in rows.items():
        lines.append(f'MIR_DIALECT({camel(dialect)}, "{dialect}")\n')
        for name, aliases in ops:
            op = camel(dialect) + camel(name)
            lines.append(f'MIR_OP({op}, "{dialect}.{name}")\n')
            lines += [f'MIR_ALIAS({op}, "{dialect}.{alias}")\n' for alias in aliases]
    return "".join(lines)


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    tables = [Path(each) for each in sys.argv[2:]]
    output, text = Path(sys.argv[1]), entries(rows_by_dialect(tables))
    # Everything is built again when the file changes.
    if not output.exists() or output.read_text(encoding="utf-8") != text:
        output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

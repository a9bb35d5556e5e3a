#!/usr/bin/env python3
"""Writes what the row tables declare as C++: the ops, the keys of attributes, and for each op of `linalg` a class with
typed accessors and a builder.

A table file holds arrays of `OpRow`, each row beginning with its name, and the arrays of `AttrRow` that they name. A
file that declares a dialect gives its rows to it; a header of rows gives them to the dialect that its folder is named
after, whose rows are sorted by name. Dialects keep the order of the files. A file without ops lists attributes of
values and marks. The tables themselves assert at compile time that their rows are these in this order and that all
keys are listed, so neither can be overlooked here.

usage: list_op_ids.py FOLDER TABLE...
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

DIALECT = re.compile(r'^constinit const Dialect k\w+\{\s*\.name = "(\w+)"', re.M)
ROWS = re.compile(r"^(?:inline )?constexpr OpRow k\w+\[\] = \{\n(.*?)^\};", re.M | re.S)
ROW = re.compile(r'^    \{\.name = "(\w+)",(.*?)(?=^    \{\.name|\Z)', re.M | re.S)
ALIASES = re.compile(r"^(?:inline )?constexpr std::string_view (k\w+)\[\] = \{(.*?)\};", re.M | re.S)
ATTRIBUTES = re.compile(r"^ *(?:inline |static )?constexpr AttrRow (k\w+)(?:\[\])? = \{(.*?)\};$", re.M | re.S)
ITEM = re.compile(r'\{\s*(\.name = .*?)\}(?=,?\s*(?:\{|k[A-Z]|\Z))|(k[A-Z]\w+)', re.S)

# What a member cannot be called in C++.
KEYWORDS = {"default", "operator", "private", "register", "template", "union"}


@dataclass
class Attribute:
    name: str
    type: str
    is_optional: bool  # neither required nor with a default


@dataclass
class Row:
    name: str
    aliases: list[str]
    attributes: list[Attribute] = field(default_factory=list)
    operands: int | None = None  # None: not always the same number
    results: int | None = None
    added: int | None = None  # operands with those that a later version added; None: none were


@dataclass
class Tables:
    rows: dict[str, list[Row]] = field(default_factory=dict)  # by dialect
    keys: set[str] = field(default_factory=set)


def camel(name: str) -> str:
    """"KVCacheOp" as "KVCache", "kernel_launch" as "KernelLaunch"."""
    return "".join(part[0].upper() + part[1:] for part in name.removesuffix("Op").split("_"))


def key(name: str) -> str:
    return "k" + "".join(part[0].upper() + part[1:] for part in name.split("_"))


def attribute_of(fields: str) -> Attribute:
    name = re.match(r'\.name = "(\w+)"', fields)
    assert name, fields
    stated = re.search(r"\.type = (?:AttrType::)?(k\w+)", fields)
    is_optional = ".required = true" not in fields and ".default_text" not in fields
    return Attribute(name[1], stated[1] if stated else "kAny", is_optional)


def attributes_of(text: str) -> dict[str, list[Attribute]]:
    """The attributes of the arrays of a table, and single ones, by the names of the constants."""
    lists: dict[str, list[Attribute]] = {}
    for name, items in ATTRIBUTES.findall(text):
        if items.lstrip().startswith(".name"):
            lists[name] = [attribute_of(items.strip())]
            continue
        lists[name] = []
        for fields, single in ITEM.findall(items):
            lists[name] += [attribute_of(fields)] if fields else lists[single]
    return lists


def count(fields: str, what: str) -> int | None:
    """The number of operands or results; None if it is not always the same."""
    stated = re.search(rf"\.{what} = (\w+)\((\d+)\)", fields)
    if not stated:
        added = re.search(r"\.added_operands = \{\.first = (\d+)", fields) if what == "operands" else None
        return int(added[1]) if added else 0 if f".{what} =" not in fields else None
    return int(stated[2]) if stated[1] == "exactly" else None


def with_added(fields: str) -> int | None:
    """The most operands of an op to which a later version of the language added some."""
    most = re.search(r"\.operands = between\(\d+, (\d+)\)", fields)
    return int(most[1]) if most and ".added_operands" in fields else None


def rows_of(text: str, attributes: dict[str, list[Attribute]]) -> list[Row]:
    """The rows of a table's text, in its order."""
    lists = {name: re.findall(r'"(\w+)"', items) for name, items in ALIASES.findall(text)}
    rows = []
    for name, fields in (row for block in ROWS.findall(text) for row in ROW.findall(block)):
        aliases = re.search(r"\.aliases = (k\w+)", fields)
        stated = re.search(r"^     \.attributes = (k\w+)", fields, re.M)
        rows.append(Row(name, lists[aliases[1]] if aliases else [], attributes[stated[1]] if stated else [],
                        count(fields, "operands"), count(fields, "results"), with_added(fields)))
    return rows


def read_tables(files: list[Path]) -> Tables:
    tables = Tables()
    for file in files:
        text = file.read_text(encoding="utf-8")
        attributes = attributes_of(text)
        found = rows_of(text, attributes)
        listed = [row.attributes for row in found] if found else attributes.values()
        tables.keys |= {each.name for some in listed for each in some}
        declared = DIALECT.search(text)
        if found:
            dialect = declared[1] if declared else file.parent.name
            tables.rows.setdefault(dialect, []).extend(found)
            if not declared:
                tables.rows[dialect].sort(key=lambda row: row.name)
    return tables


MADE = "// Made from the row tables of the dialects by scripts/list_op_ids.py.\n"


def op_ids(tables: Tables) -> str:
    lines = [MADE]
    for dialect, ops in tables.rows.items():
        lines.append(f'MIR_DIALECT({camel(dialect)}, "{dialect}")\n')
        for row in ops:
            op = camel(dialect) + camel(row.name)
            lines.append(f'MIR_OP({op}, "{dialect}.{row.name}")\n')
            lines += [f'MIR_ALIAS({op}, "{dialect}.{alias}")\n' for alias in row.aliases]
    return "".join(lines)


def attribute_keys(tables: Tables) -> str:
    assert len({key(each) for each in tables.keys}) == len(tables.keys), "two keys have one name"
    return MADE + "".join(f'MIR_KEY({key(each)}, "{each}")\n' for each in sorted(tables.keys))


# How an attribute of a type is read, and what that gives. Others are `const Attr*`.
TYPES = {
    "kInt": ("integer", "std::int64_t"),
    "kBool": ("boolean", "bool"),
    "kFloat": ("number", "double"),
    "kString": ("string", "std::string_view"),
    "kDType": ("string", "std::string_view"),
    "kDevice": ("string", "std::string_view"),
    "kInts": ("integers", "std::vector<std::int64_t>"),
}


def member(name: str) -> str:
    return name.lower() + "_" if name in KEYWORDS else name.lower()


def accessor(attribute: Attribute) -> str:
    name, at = member(attribute.name), f"key::{key(attribute.name)}"
    reader, result = TYPES.get(attribute.type, ("attribute", "const Attr*"))
    if attribute.is_optional and reader in ("integer", "boolean", "number"):
        return (f"  std::optional<{result}> {name}() const {{\n"
                f"    return has({at}) ? std::optional({reader}({at})) : std::nullopt;\n  }}\n")
    return f"  {result} {name}() const {{ return {reader}({at}); }}\n"


def option(attribute: Attribute) -> str:
    reader, kind = TYPES.get(attribute.type, ("attribute", ""))
    kind = "const Attr*" if reader in ("attribute", "integers") else f"std::optional<{kind}>"
    return f"    {kind} {member(attribute.name)}{{}};\n"


def build_function(op: str, row: Row) -> str:
    """Options as fields, and functions that make the op: one without added operands, one with them."""
    options = f"  struct Options {{\n{''.join(map(option, row.attributes))}  }};\n" if row.attributes else ""
    functions = [function_of(op, row, row.operands)]
    if row.added:
        functions.append(function_of(op, row, row.added))
    return options + "".join(functions)


def function_of(op: str, row: Row, count: int | None) -> str:
    """A function that makes the op with so many operands."""
    options = bool(row.attributes)
    stated = ", ".join(f"{{key::{key(each.name)}, options.{member(each.name)}}}" for each in row.attributes)
    names = [f"x{i}" for i in range(count or 0)]
    operands = "".join(f"Value* {each}, " for each in names)
    given = "std::array{" + ", ".join(names) + "}" if names else "{}"
    if count is None:
        operands, given = "std::span<Value* const> operands, ", "operands"
    if options:
        operands += "const Options& options, "
    result, build = ("Value*", "build_value") if row.results == 1 else ("Op*", "build_op")
    return (f"  static {result} build(Builder& builder, {operands}const OpPlace& place = {{}}) {{\n"
            f"    return {build}(builder, OpId::k{op}, {given}, {{{stated}}}, place);\n  }}\n")


def classes(dialect: str, ops: list[Row]) -> str:
    lines = [MADE, '#pragma once\n\n#include <array>\n\n#include "mir/op_attributes.hpp"\n\n',
             f"namespace mir::{dialect} {{\n"]
    for row in ops:
        op = camel(row.name)
        lines.append(f"\nclass {op} : public OpAttributes {{\n public:\n"
                     f"  explicit {op}(const OpAttributes& of) : OpAttributes(of) {{}}\n"
                     if row.attributes else f"\nstruct {op} {{\n")
        lines += map(accessor, row.attributes)
        lines.append(build_function(camel(dialect) + op, row) + "};\n")
    lines.append(f"\n}}  // namespace mir::{dialect}\n")
    return "".join(lines)


def write(path: Path, text: str) -> None:
    # What includes a file is built again when it changes.
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    folder, tables = Path(sys.argv[1]), read_tables([Path(each) for each in sys.argv[2:]])
    write(folder / "op_ids.def", op_ids(tables))
    write(folder / "attribute_keys.def", attribute_keys(tables))
    write(folder / "linalg_ops.hpp", classes("linalg", tables.rows["linalg"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Writes what the row tables declare as C++: the ops, the keys of their attributes, and for each op a class with
typed accessors and a builder.

A table file holds arrays of `OpRow`, each row beginning with its name, and the arrays of `AttrRow` that they name. A
file that declares a dialect gives its rows to it; a header of rows gives them to the dialect that its folder is named
after, whose rows are sorted by name. Dialects keep the order of the files. The tables themselves assert at compile time
that their rows and attributes are these in this order, so nothing that this script overlooks can pass.

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
ATTRIBUTES = re.compile(r"^(?:inline )?constexpr AttrRow (k\w+)(?:\[\])? = \{(.*?)\};$", re.M | re.S)
WORDS = re.compile(r'^inline constexpr std::string_view (k\w+) = "(\w+)";', re.M)
ITEM = re.compile(r'\{\s*(\.name = .*?)\}(?=,?\s*(?:\{|k[A-Z]|\Z))|(k[A-Z]\w+)', re.S)

# Programs are decoded as a whole, by the library `program`.
WITHOUT_CLASSES = {"prog"}

# What a key must not be called in C++: keywords.
KEYWORDS = {"default", "operator", "private", "register", "template", "union"}


@dataclass
class Attribute:
    name: str
    type: str = "kAny"
    is_required: bool = False
    default: str = ""
    is_element: bool = False


@dataclass
class Row:
    name: str
    aliases: list[str]
    attributes: list[Attribute] = field(default_factory=list)
    operands: int | None = None  # None: not always the same number
    results: int | None = None


def camel(name: str) -> str:
    """"KVCacheOp" as "KVCache", "kernel_launch" as "KernelLaunch"."""
    return "".join(part[0].upper() + part[1:] for part in name.removesuffix("Op").split("_"))


def key(name: str) -> str:
    return "k" + "".join(part[0].upper() + part[1:] for part in name.split("_"))


def attribute_of(fields: str, words: dict[str, str]) -> Attribute:
    name = re.match(r'\.name = (?:"(\w+)"|program_field::(k\w+))', fields)
    assert name, fields
    made = Attribute(name[1] or words[name[2]])
    if stated := re.search(r"\.type = (?:AttrType::)?(k\w+)", fields):
        made.type = stated[1]
    made.is_required = ".required = true" in fields
    made.is_element = ".is_element = true" in fields
    if stated := re.search(r'\.default_text = "([^"]*)"', fields):
        made.default = stated[1]
    return made


def attributes_of(text: str, words: dict[str, str]) -> dict[str, list[Attribute]]:
    """The attributes of the arrays of a table, and single ones, by the names of the constants."""
    lists: dict[str, list[Attribute]] = {}
    for name, items in ATTRIBUTES.findall(text):
        if items.lstrip().startswith(".name"):
            lists[name] = [attribute_of(items.strip(), words)]
            continue
        lists[name] = []
        for fields, single in ITEM.findall(items):
            lists[name] += [attribute_of(fields, words)] if fields else lists[single]
    return lists


def count(fields: str, what: str, otherwise: int | None) -> int | None:
    stated = re.search(rf"\.{what} = (\w+)\((\d+)\)", fields)
    if not stated:
        return otherwise if f".{what} =" not in fields else None
    return int(stated[2]) if stated[1] == "exactly" else None


def rows_of(text: str, words: dict[str, str]) -> list[Row]:
    """The rows of a table's text, in its order."""
    lists = {name: re.findall(r'"(\w+)"', items) for name, items in ALIASES.findall(text)}
    attributes = attributes_of(text, words)
    rows = []
    for name, fields in (row for block in ROWS.findall(text) for row in ROW.findall(block)):
        aliases = re.search(r"\.aliases = (k\w+)", fields)
        row = Row(name, lists[aliases[1]] if aliases else [])
        if stated := re.search(r"^     \.attributes = (k\w+)", fields, re.M):
            row.attributes = attributes[stated[1]]
        row.operands, row.results = count(fields, "operands", 0), count(fields, "results", 0)
        rows.append(row)
    return rows


def rows_by_dialect(tables: list[Path]) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    words = dict(WORDS.findall("".join(each.read_text(encoding="utf-8") for each in tables)))
    for table in tables:
        text = table.read_text(encoding="utf-8")
        found = rows_of(text, words)
        if not found:
            continue
        declared = DIALECT.search(text)
        dialect = declared[1] if declared else table.parent.name
        rows.setdefault(dialect, []).extend(found)
        if not declared:
            rows[dialect].sort(key=lambda row: row.name)
    return rows


MADE = "// Made from the row tables of the dialects by scripts/list_op_ids.py.\n"


def op_ids(rows: dict[str, list[Row]]) -> str:
    lines = [MADE]
    for dialect, ops in rows.items():
        lines.append(f'MIR_DIALECT({camel(dialect)}, "{dialect}")\n')
        for row in ops:
            op = camel(dialect) + camel(row.name)
            lines.append(f'MIR_OP({op}, "{dialect}.{row.name}")\n')
            lines += [f'MIR_ALIAS({op}, "{dialect}.{alias}")\n' for alias in row.aliases]
    return "".join(lines)


def keys_of(rows: dict[str, list[Row]]) -> list[str]:
    return sorted({each.name for ops in rows.values() for row in ops for each in row.attributes} | {"constant"})


def attribute_keys(rows: dict[str, list[Row]]) -> str:
    keys = keys_of(rows)
    assert len({key(each) for each in keys}) == len(keys), "two keys have one name"
    return MADE + "".join(f'MIR_KEY({key(each)}, "{each}")\n' for each in keys)


def op_attributes(rows: dict[str, list[Row]]) -> str:
    lines = [MADE]
    for dialect, ops in rows.items():
        for row in ops:
            op = camel(dialect) + camel(row.name)
            for each in row.attributes:
                lines.append(f'MIR_ATTRIBUTE({op}, "{each.name}", {each.type}, {str(each.is_required).lower()}, '
                             f'"{each.default}", {str(each.is_element).lower()})\n')
    return "".join(lines)


# How an attribute of a type is read, and what a builder takes for it.
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
    if attribute.is_element:
        default = attribute.default or "0"
        return f'  NumberText {name}() const {{ return number_text({at}, "{default}"); }}\n'
    reader, result = TYPES.get(attribute.type, ("attribute", "const Attr*"))
    default = attribute.default
    if reader == "attribute" or (reader == "integers"):
        return f"  {result} {name}() const {{ return {reader}({at}); }}\n"
    if not default and not attribute.is_required and reader != "string":
        return (f"  std::optional<{result}> {name}() const {{\n"
                f"    return has({at}) ? std::optional({reader}({at})) : std::nullopt;\n  }}\n")
    text = f'"{default}"' if reader == "string" else default
    more = f", {text}" if default else ""
    return f"  {result} {name}() const {{ return {reader}({at}{more}); }}\n"


def build_function(row: Row) -> str:
    """Options as fields, and a function that makes the op."""
    fields, stated = [], []
    for each in row.attributes:
        name, kind = member(each.name), TYPES.get(each.type, ("", ""))[1]
        is_value = kind in ("std::int64_t", "bool", "double", "std::string_view")
        kind = f"std::optional<{kind}>" if is_value else "const Attr*"
        fields.append(f"    {kind} {name}{{}};\n")
        stated.append(f"{{key::{key(each.name)}, attribute_of(builder, options.{name})}}")
    operands = "std::span<Value* const> operands"
    given = "operands"
    if row.operands is not None:
        names = [f"x{i}" for i in range(row.operands)] if row.operands > 1 else ["x"] * row.operands
        operands = ", ".join(f"Value* {each}" for each in names)
        given = "std::array{" + ", ".join(names) + "}" if names else "{}"
    operands = f", {operands}" if operands else ""
    result = "Value*" if row.results == 1 else "Op*"
    get = "result_of(" if row.results == 1 else "("
    attributes = ", ".join(stated)
    return (f"  struct Options {{\n{''.join(fields)}  }};\n"
            f"  static {result} build(Builder& builder{operands}, const Options& options, const OpPlace& place = {{}}) {{\n"
            f"    return {get}build_op(builder, kId, {given}, {{{attributes}}}, place));\n  }}\n")


def classes(dialect: str, ops: list[Row]) -> str:
    lines = [MADE, "#pragma once\n\n", '#include "mir/op_attributes.hpp"\n\n', f"namespace mir::{dialect} {{\n"]
    for row in ops:
        if not row.attributes:
            continue
        op = camel(row.name)
        lines.append(f"\nclass {op} : public OpAttributes {{\n public:\n"
                     f"  static constexpr OpId kId = OpId::k{camel(dialect)}{op};\n"
                     f"  using OpAttributes::OpAttributes;\n")
        lines += [accessor(each) for each in row.attributes]
        lines.append(build_function(row))
        lines.append("};\n")
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
    folder, rows = Path(sys.argv[1]), rows_by_dialect([Path(each) for each in sys.argv[2:]])
    write(folder / "op_ids.def", op_ids(rows))
    write(folder / "attribute_keys.def", attribute_keys(rows))
    write(folder / "op_attributes.def", op_attributes(rows))
    for dialect, ops in rows.items():
        if dialect not in WITHOUT_CLASSES and any(row.attributes for row in ops):
            write(folder / f"{dialect}_ops.hpp", classes(dialect, ops))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that no string literal in `src` is the key of an attribute of a built-in op.

A key is a constant made from the rows (`key::kToShape` of mir/attribute_keys.hpp), or an accessor of the op
(`linalg::View(op)` of mir/linalg_ops.hpp). Exempt are the rows, the libraries below `ir`, which know no ops, the
readers of declared ops (`declare`) and of text (`syntax`, `lsp`), and the words of OTHER, which mean something else.
Names each key that is left and exits 1. An entry of OTHER that nothing needs is reported, too.

usage: check_attribute_keys.py [ROOT]
"""

import re
from pathlib import Path

import list_op_ids
from lib import lint

EXEMPT = {"chat", "declare", "kernels", "lsp", "support", "syntax", "tokenizer", "weights"}
STRING = re.compile(r'R"\w*\((?:.|\n)*?\)\w*"|"((?:[^"\\\n]|\\.)*)"|//[^\n]*|\'(?:[^\'\\]|\\.)\'')

# Words that are no keys where they are: of JSON, of messages and reports, names of rules, functions and modes.
OTHER = {
    "src/dialects/listing.cpp": {"type"},
    "src/dialects/op_facts.cpp": {"device", "symbol", "type"},
    "src/dialects/rules.cpp": {"absolute", "causal_mask", "pad", "reduce", "where"},
    "src/dialects/rules_convolution.cpp": {"constant"},
    "src/dialects/rules_movement.cpp": {"constant"},
    "src/dialects/signatures.cpp": {"absolute", "at", "causal_mask", "k", "reduce", "where"},
    "src/dialects/trait_words.hpp": {"symbol"},
    "src/diff/module_diff.cpp": {"device", "name", "regions", "successors", "symbol"},
    "src/eval/signal.cpp": {"constant"},
    "src/interp/describe.cpp": {"B", "capacity", "head_dim", "name", "parameters", "symbols", "type", "value"},
    "src/interp/dump.cpp": {"dtype", "shape", "value"},
    "src/interp/profile.cpp": {"flop", "name", "parameters"},
    "src/interp/recorded.cpp": {"dtype", "shape", "value"},
    "src/interp/run_report.cpp": {"dtype", "name", "shape", "step", "value"},
    "src/ir/context/elements.cpp": {"parameters"},
    "src/ir/context/location_text.cpp": {"at"},
    "src/ir/rewrite/builder.cpp": {"device"},
    "src/passes/loops/loops_pass.cpp": {"loops"},
    "src/passes/names/roles.cpp": {"cache"},
    "src/passes/pass.cpp": {"region"},
    "src/passes/rewrite/text_patterns.cpp": {"value"},
    "src/passes/schedule/schedule_passes.cpp": {
        "accumulate", "cache", "loops", "pad", "parallel", "type", "unroll", "vector",
    },
    "src/passes/types/convert_types.cpp": {"parameters"},
    "src/patterns/functions.cpp": {"axis", "device", "dtype", "reverse", "shape", "size", "type"},
    "src/plan/packed_cache.cpp": {"dtype", "name", "stored"},
    "src/program/program_json.cpp": {"constant", "device", "shape", "symbol", "type"},
    "src/program/program_text.cpp": {"constant", "shape", "symbol"},
    "src/text/emit/emit_json.cpp": {
        "attributes", "device", "mir_version", "name", "region", "regions", "successors", "symbol", "type",
    },
    "src/text/emit/emit_quant.cpp": {"axis", "type", "value"},
    "src/upgrade/downgrade.cpp": {"name", "symbol"},
    "src/trace/layers.cpp": {"past"},
    "src/upgrade/kernel_names.cpp": {"name"},
    "src/upgrade/loss_report.cpp": {"at"},
    "src/upgrade/lower_program.cpp": {"device"},
    "src/upgrade/settle_text.cpp": {"text"},
    "src/upgrade/steps/generalise.cpp": {"past"},
    "src/upgrade/steps/recover_links.cpp": {"name", "parameters"},
    "src/upgrade/steps/take_grants.cpp": {"name"},
    "src/upgrade/sidecar.cpp": {"attributes", "constant", "name"},
    "src/upgrade/upgrade_options.cpp": {"type"},
    "src/validate/validate_patterns.cpp": {"value"},
    "src/verify/constraint.cpp": {"attributes", "weights"},
    "src/verify/structure.cpp": {"regions", "successors"},
    "src/verify/structured_flow.cpp": {"step"},
}


def tables(root: Path) -> list[Path]:
    """The files with rows, as the build lists them."""
    build = (root / "include/mir/meson.build").read_text(encoding="utf-8")
    return [root / each for each in re.findall(r"'\.\./\.\./(src/[^']+)'", build)]


def literals(text: str) -> list[tuple[str, int]]:
    """The one-line string literals of a C++ text outside comments, each with its line."""
    return [(match[1], text.count("\n", 0, match.start()) + 1)
            for match in STRING.finditer(text) if match[1] is not None]


def check(root: Path, other: dict[str, set[str]]) -> list[str]:
    rows = tables(root)
    keys = list_op_ids.read_tables(rows).keys
    unused = {(file, word) for file, words in other.items() for word in words}
    problems = []
    for path in sorted((root / "src").rglob("*.[ch]pp")):
        name = path.relative_to(root).as_posix()
        if path in rows or path.relative_to(root).parts[1] in EXEMPT:
            continue
        for word, line in literals(path.read_text(encoding="utf-8")):
            if word not in keys:
                continue
            unused.discard((name, word))
            if word not in other.get(name, set()):
                problems.append(f"{name}:{line}: \"{word}\" is the key of an attribute: "
                                f"write key::{list_op_ids.key(word)}, or an accessor of the op")
    return problems + [f"{file}: '{word}' is listed in {Path(__file__).name} and is not there"
                       for file, word in sorted(unused)]


if __name__ == "__main__":
    lint.main(lambda root: check(root, OTHER))

#!/usr/bin/env python3
"""Checks that every #include follows the layer order of CONTRIBUTING.md.

A folder of `src` is a layer; `grammar` belongs to `syntax`. A file may include what its own and lower
layers own. A header of `include/mir` belongs to the layer of the source of the same name, or, without
one, to the highest layer of the headers that it includes; it includes no header from elsewhere.
Exits 1 after naming each offence.

usage: check_layering.py [ROOT]
"""

import re
import sys
from pathlib import Path

LAYERS = ["support", "syntax", "kernels", "weights", "ir", "dialects", "program", "patterns", "declare", "verify", "eval",
          "passes", "upgrade", "diff", "plan", "interp", "validate", "reduce", "lsp", "tools"]
# Layers that see less than all below them: tensors are all they know.
NARROWER = {"kernels": {"support", "kernels"}, "weights": {"support", "weights"}}
SUFFIXES = {".cpp", ".hpp", ".h", ".re", ".yy"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def folder_layer(path: Path) -> str | None:
    """The layer in whose folder a path relative to the root lies; none when it is in no layer's folder."""
    parts = path.parts
    name = {"grammar": "syntax", "tools": "tools"}.get(parts[0])
    if parts[0] == "src" and len(parts) > 2:
        name = parts[1]
    return name if name in LAYERS else None


def highest(layers: list[str]) -> str:
    return max(layers, key=LAYERS.index, default=LAYERS[0])


class Tree:
    """The files below a root and what each includes."""

    def __init__(self, root: Path):
        paths = [path.relative_to(root) for top in ("include", "src", "grammar", "tools")
                 for path in sorted((root / top).rglob("*")) if path.suffix in SUFFIXES]
        self.text = {path: (root / path).read_text(encoding="utf-8") for path in paths}
        self.includes = {path: INCLUDE.findall(text) for path, text in self.text.items()}
        self.implemented_in: dict[str, str] = {}
        for path in paths:
            header = f"mir/{path.stem}.hpp"
            if path.suffix == ".cpp" and header in self.includes[path] and (layer := folder_layer(path)):
                self.implemented_in[header] = layer

    def layer_of(self, included: str, seen: frozenset = frozenset()) -> str | None:
        """The layer of a header as an #include spells it; none for one that is not the project's."""
        if not included.startswith("mir/"):
            return folder_layer(Path("src") / included)
        if included in self.implemented_in:
            return self.implemented_in[included]
        below = [] if included in seen else self.includes.get(Path("include") / included, [])
        layers = [self.layer_of(each, seen | {included}) for each in below]
        return highest([layer for layer in layers if layer])

    def offence(self, path: Path, included: str) -> str | None:
        """What is wrong with one #include of `path`; none when it is in order."""
        if path.is_relative_to("include"):
            if included.startswith("mir/"):
                return None
            return f"an installed header may not include '{included}'"
        layer, target = folder_layer(path), self.layer_of(included)
        allowed = NARROWER.get(layer, set(LAYERS[:LAYERS.index(layer) + 1]))
        if target is None or target in allowed:
            return None
        return f"layer '{layer}' may not include '{included}' of layer '{target}'"


def check(root: Path) -> list[str]:
    tree = Tree(root)
    problems = []
    for path, text in tree.text.items():
        if not path.is_relative_to("include") and folder_layer(path) is None:
            problems.append(f"{path}: lies in no layer's folder")
            continue
        for match in INCLUDE.finditer(text):
            if found := tree.offence(path, match[1]):
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{path}:{line}: {found}")
    return problems


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = check(root)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

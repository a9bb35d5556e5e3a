#!/usr/bin/env python3
"""Checks that every #include follows the layer order of CONTRIBUTING.md.

A file may include public headers (`mir/<layer>/...`) of its own and of lower layers, and private
headers of its own layer; a public header includes no private one. Kernels know tensors only: of
the layers below them they see `support` alone. Exits 1 after naming each offence.

usage: check_layering.py [ROOT]
"""

import re
import sys
from pathlib import Path

LAYERS = ["support", "syntax", "ir", "dialects", "verify", "files", "kernels", "eval", "passes",
          "plan", "interp", "machine", "tools"]
NARROWER = {"kernels": {"support", "kernels"}}
# Folders whose name is not their layer; the longest prefix wins.
FOLDERS = {"grammar": "syntax", "tools": "tools", "src/ir/dialects": "dialects",
           **{f"src/interp/{name}": name for name in ("files", "kernels", "eval", "plan", "machine")}}
SUFFIXES = {".cpp", ".hpp", ".re", ".yy"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def layer_of(path: Path) -> str | None:
    """The layer of a path relative to the root; none when it lies in no layer's folder."""
    for folder in sorted(FOLDERS, key=len, reverse=True):
        if path.is_relative_to(folder):
            return FOLDERS[folder]
    parts = path.parts
    if parts[:2] == ("include", "mir") and len(parts) > 3:
        return parts[2] if parts[2] in LAYERS else None
    if parts[0] == "src" and len(parts) > 2:
        return parts[1] if parts[1] in LAYERS else None
    return None


def allowed(layer: str) -> set[str]:
    return NARROWER.get(layer, set(LAYERS[:LAYERS.index(layer) + 1]))


def offence(path: Path, layer: str, included: str, private: dict[str, set[str]]) -> str | None:
    """What is wrong with one #include of `path`; none when it is in order."""
    is_public = path.is_relative_to("include")
    if included.startswith("mir/"):
        target = included.split("/")[1]
        if target in allowed(layer):
            return None
        return f"layer '{layer}' may not include '{included}'"
    if is_public:
        return f"a public header may not include the private '{included}'"
    owners = private.get(Path(included).name)
    if owners and layer not in owners:
        return f"'{included}' is private to layer '{', '.join(sorted(owners))}'"
    return None


def check(root: Path) -> list[str]:
    files = [path.relative_to(root) for top in ("include", "src", "grammar", "tools")
             for path in sorted((root / top).rglob("*")) if path.suffix in SUFFIXES]
    private: dict[str, set[str]] = {}
    for path in files:
        if path.suffix == ".hpp" and not path.is_relative_to("include"):
            private.setdefault(path.name, set()).add(layer_of(path) or "")
    problems = []
    for path in files:
        layer = layer_of(path)
        if layer is None:
            problems.append(f"{path}: lies in no layer's folder")
            continue
        text = (root / path).read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            if found := offence(path, layer, match[1], private):
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

#!/usr/bin/env python3
"""Checks that every #include follows the layer order of CONTRIBUTING.md.

A folder of `src` is a layer; `grammar` belongs to `syntax`. The folders inside some layers are ordered,
too. A file may include what its own and lower layers and folders own. A header of `include/mir` belongs
where the source of the same name is; otherwise where sources are that continue its name with `_`, if they
are in one folder; otherwise as high as the headers that it includes. It includes no header from elsewhere.
Only `src/support/platform` calls the system: other files include the headers of C++ and of the libraries that the
project uses. <csignal> and <thread> belong to the platform, too; <filesystem> also to tools.
Exits 1 after naming each offence.

usage: check_layering.py [ROOT]
"""

import re
from pathlib import Path

from lib import lint

LAYERS = ["support", "syntax", "kernels", "weights", "tokenizer", "chat", "extents", "ir", "text", "dialects", "program", "patterns", "declare", "verify", "eval",
          "passes", "emit_c", "upgrade", "diff", "plan", "interp", "generation", "trace", "validate", "reduce", "lsp", "tools"]
# Layers that see less than all below them.
NARROWER = {each: {"support", each} for each in ("kernels", "weights", "extents", "chat")} | {
    "tokenizer": {"support", "weights", "tokenizer"}}
# The order of the folders inside a layer; "" is the layer's own folder.
FOLDERS = {"ir": ["context", "", "rewrite", "precompiled"], "text": ["", "emit"]}
SUFFIXES = {".cpp", ".hpp", ".h", ".re", ".yy"}
# Only sources in this folder may call the system.
PLATFORM = Path("src/support/platform")
PLATFORM_HEADERS = {"csignal", "thread", "filesystem"}
# Headers of C++ have neither a dot nor a slash; these are of other libraries.
OTHER_LIBRARIES = re.compile(r"(fmt|nlohmann|hwy|boost)/|(xxhash|zlib|pcre2|utf8proc)\.h$")
SYSTEM_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.M)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


Place = tuple[str, str]  # a layer and one of its FOLDERS


def rank(place: Place) -> tuple[int, int]:
    layer, folder = place
    return LAYERS.index(layer), FOLDERS.get(layer, [""]).index(folder)


def name_of(place: Place) -> str:
    layer, folder = place
    return f"folder '{layer}/{folder}'" if folder else f"layer '{layer}'"


def place_of_file(path: Path) -> Place | None:
    """The place of a path relative to the root; none when it is in no layer's folder."""
    parts = path.parts
    name = {"grammar": "syntax", "tools": "tools"}.get(parts[0])
    if parts[0] == "src" and len(parts) > 2:
        name = parts[1]
    if name not in LAYERS:
        return None
    folder = parts[2] if len(parts) > 3 else ""
    return name, folder if folder in FOLDERS.get(name, []) else ""


class Tree:
    """The files below a root and what each includes."""

    def __init__(self, root: Path):
        paths = [path.relative_to(root) for top in ("include", "src", "grammar", "tools")
                 for path in sorted((root / top).rglob("*")) if path.suffix in SUFFIXES]
        self.text = {path: (root / path).read_text(encoding="utf-8") for path in paths}
        self.includes = {path: INCLUDE.findall(text) for path, text in self.text.items()}
        self.implemented_in: dict[str, Place] = {}
        parts_in: dict[str, set[Place]] = {}
        for path in paths:
            place = place_of_file(path)
            if path.suffix != ".cpp" or not place:
                continue
            for header in self.includes[path]:
                name = Path(header).stem
                if header == f"mir/{path.stem}.hpp":
                    self.implemented_in[header] = place
                elif header.startswith("mir/") and path.stem.startswith(f"{name}_"):
                    parts_in.setdefault(header, set()).add(place)
        for header, places in parts_in.items():
            if len(places) == 1:
                self.implemented_in.setdefault(header, places.pop())

    def place_of(self, included: str, seen: frozenset = frozenset()) -> Place | None:
        """The place of a header as an #include spells it; none for one that is not the project's."""
        if not included.startswith("mir/"):
            return place_of_file(Path("src") / included)
        if included in self.implemented_in:
            return self.implemented_in[included]
        below = [] if included in seen else self.includes.get(Path("include") / included, [])
        places = [self.place_of(each, seen | {included}) for each in below]
        return max([place for place in places if place], key=rank, default=(LAYERS[0], ""))

    def offence(self, path: Path, included: str) -> str | None:
        """What is wrong with one #include of `path`; none when it is in order."""
        if path.is_relative_to("include"):
            if included.startswith("mir/"):
                return None
            return f"an installed header may not include '{included}'"
        own, target = place_of_file(path), self.place_of(included)
        if target is None:
            return None
        allowed = NARROWER.get(own[0], LAYERS)
        if target[0] in allowed and rank(target) <= rank(own):
            return None
        if target[0] == own[0]:
            return f"{name_of(own)} may not include '{included}' of {name_of(target)}"
        return f"layer '{own[0]}' may not include '{included}' of layer '{target[0]}'"


def is_system_header(path: Path, included: str) -> bool:
    """True if only the platform may include the header."""
    if included == "filesystem" and path.parts[0] == "tools":
        return False
    if OTHER_LIBRARIES.match(included):
        return False
    return included in PLATFORM_HEADERS or "." in included or "/" in included


def system_headers(path: Path, text: str) -> list[str]:
    """The offences of a file against the platform."""
    if path.is_relative_to(PLATFORM):
        return []
    return [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: <{match[1]}> may be included in {PLATFORM} only"
            for match in SYSTEM_INCLUDE.finditer(text) if is_system_header(path, match[1])]


def check(root: Path) -> list[str]:
    tree = Tree(root)
    problems = []
    for path, text in tree.text.items():
        problems += system_headers(path, text)
        if not path.is_relative_to("include") and place_of_file(path) is None:
            problems.append(f"{path}: lies in no layer's folder")
            continue
        for match in INCLUDE.finditer(text):
            if found := tree.offence(path, match[1]):
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{path}:{line}: {found}")
    return problems


if __name__ == "__main__":
    lint.main(check)

#!/usr/bin/env python3
"""Checks the links of all documents, and that readers find every page of docs/.

- A relative link points at a file of the project, and at a heading of it where it has a fragment.
- A path in backticks that begins with a folder of the project exists. `*` matches any name; `<...>` is not looked at.
- A block ```LANGUAGE PATH``` shows lines of that file; ```diff PATH``` is left to tests/howto.
- docs/README.md links every page that lies directly in docs/ once, and links lead from it to all pages below.

Exits 1 after naming each problem.

usage: check_links.py [ROOT]
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from lib import lint
from lib.documents import find_documents, headings, read_document

CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
LINK = re.compile(r"\]\(([^()\s]+)\)")  # its text may begin on the line above
ELSEWHERE = re.compile(r"^[a-z]+:")
SHOWN = re.compile(r"(?!diff )\w+ ([\w.-]+/[\w./-]+)")  # the info string of a block that shows lines of a file
INDEX = Path("docs/README.md")


@dataclass
class Link:
    line: int
    path: Path  # relative to the root
    fragment: str


def anchors(prose: list[tuple[int, str]]) -> set[str]:
    """The anchors of all headings."""
    return {anchor for _, anchor in headings(prose)}


def normal(path: Path) -> Path:
    """The path without `..`, which may lead out of the root."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    return Path(*parts)


class Project:
    def __init__(self, root: Path):
        self.root = root
        self.folders = {path.name for path in root.iterdir() if path.is_dir()}
        documents = {path: read_document(root, path) for path in find_documents(root)}
        self.prose = {path: document.prose for path, document in documents.items()}
        self.blocks = {path: document.blocks for path, document in documents.items()}
        self.links = {path: self.links_of(path) for path in self.prose}

    def links_of(self, document: Path) -> list[Link]:
        links = []
        for number, line in self.prose[document]:
            for target in LINK.findall(CODE.sub("", line)):
                if ELSEWHERE.match(target):
                    continue
                name, _, fragment = target.partition("#")
                path = normal(document.parent / name) if name else document
                links.append(Link(number, path, fragment))
        return links

    def broken_links(self) -> list[str]:
        problems = []
        for document, links in self.links.items():
            for link in links:
                if not (self.root / link.path).exists():
                    problems.append(f"{document}:{link.line}: there is no {link.path}")
                elif link.fragment and link.fragment not in anchors(self.prose.get(link.path, [])):
                    problems.append(f"{document}:{link.line}: {link.path} has no heading #{link.fragment}")
        return problems

    def missing_paths(self) -> list[str]:
        problems = []
        for document, prose in self.prose.items():
            for number, line in prose:
                for _, code in CODE.findall(line):
                    path = code.split(" ")[0]
                    is_path = path.split("/")[0] in self.folders and "/" in path and re.fullmatch(r"[\w./*-]+", path)
                    if is_path and not any(self.root.glob(path)):
                        problems.append(f"{document}:{number}: there is no {path}")
        return problems

    def changed_code(self) -> list[str]:
        problems = []
        for document, blocks in self.blocks.items():
            for block in blocks:
                match = SHOWN.fullmatch(block.info)
                if match is None:
                    continue
                file = self.root / match[1]
                text = file.read_text(encoding="utf-8") if file.is_file() else ""
                if "\n".join(block.lines) + "\n" not in text:
                    problems.append(f"{document}:{block.line}: {match[1]} has no such lines")
        return problems

    def unreachable_pages(self) -> list[str]:
        if INDEX not in self.links:
            return [f"there is no {INDEX}"]
        direct = Counter(link.path for link in self.links[INDEX])
        seen, open_pages = {INDEX}, [INDEX]
        while open_pages:
            targets = {link.path for link in self.links.get(open_pages.pop(), [])} - seen
            seen |= targets
            open_pages += targets
        pages = [path for path in self.prose if path.parts[0] == "docs" and path != INDEX]
        problems = [f"{INDEX} links {path} {direct[path]} times, expected once"
                    for path in pages if path.parent == INDEX.parent and direct[path] != 1]
        return problems + [f"no link leads from {INDEX} to {path}" for path in pages if path not in seen]


def check(root: Path) -> list[str]:
    project = Project(root)
    return project.broken_links() + project.missing_paths() + project.changed_code() + project.unreachable_pages()


if __name__ == "__main__":
    lint.main(check)

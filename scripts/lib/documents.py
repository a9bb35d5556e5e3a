"""The Markdown documents of the project and what their lines are: prose, code, headings."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^ *(```+|~~~+)(.*)$")
HEADING = re.compile(r"^#+ +(.*?)\s*#*$")


@dataclass
class Block:
    """A fenced block of code."""
    line: int  # of the opening fence, from 1
    info: str  # after the fence: "console", "mir file"
    lines: list[str] = field(default_factory=list)


@dataclass
class Document:
    path: Path  # relative to the root of the project
    blocks: list[Block] = field(default_factory=list)
    prose: list[tuple[int, str]] = field(default_factory=list)  # numbered lines outside of fenced blocks


def read_document(root: Path, path: Path) -> Document:
    document = Document(path)
    fence = None
    for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
        match = FENCE.match(line)
        if fence is not None:
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = None
            else:
                document.blocks[-1].lines.append(line)
        elif match:
            fence = match[1]
            document.blocks.append(Block(number, match[2].strip()))
        else:
            document.prose.append((number, line))
    return document


def headings(prose: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The line of each heading and the anchor that links name it by, spelled as GitHub does."""
    found: Counter = Counter()
    anchors = []
    for number, line in prose:
        if match := HEADING.match(line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).lower()
            anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            anchors.append((number, f"{anchor}-{found[anchor]}" if found[anchor] else anchor))
            found[anchor] += 1
    return anchors


def find_documents(root: Path) -> list[Path]:
    """Every Markdown file below the root but those in build folders, hidden folders and packages, in order."""
    def is_source(path: Path) -> bool:
        folders = path.relative_to(root).parts[:-1]
        return not any(name.startswith((".", "build")) or name == "node_modules" for name in folders)
    return sorted(path.relative_to(root) for path in root.rglob("*.md") if is_source(path))

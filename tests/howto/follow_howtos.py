#!/usr/bin/env python3
"""Follows docs/howto/add-an-op.md and add-a-fast-kernel.md on a copy of the sources.

usage: follow_howtos.py SOURCE_ROOT COPY

A block ```diff PATH``` of a document is part of a step: lines that begin with a blank are in the file, those with a
`+` come in after them. The files of one step are one place: a file, or a header and its source. Files of an older COPY
that are right keep their times, so that a build compiles only what changed. The copy has the option `howtos`, whose test
runs the new op.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/lib"))
from documents import read_document

HOWTOS = {Path("docs/howto/add-an-op.md"): 5, Path("docs/howto/add-a-fast-kernel.md"): 3}  # places at most
COPIED = ["meson.build", "meson_options.txt", "LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench",
          "dependencies", "docs", "editors", "fuzz", "grammar", "include", "scripts", "share", "src", "testdata", "tests",
          "tools"]


def fail(message: str) -> None:
    sys.exit(message)


def read_sources(root: Path) -> dict[str, bytes]:
    """The files of a build by their paths."""
    files = [root / name for name in COPIED]
    files += [path for folder in files if folder.is_dir() for path in folder.rglob("*")]
    return {str(path.relative_to(root)): path.read_bytes()
            for path in files if path.is_file() and "__pycache__" not in path.parts}


def add(sources: dict[str, bytes], path: str, lines: list[str], place: str) -> None:
    """Puts the lines of a block with a `+` after the lines before them."""
    before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+")).encode()
    after = "".join(f"{line[1:]}\n" for line in lines).encode()
    text = b"\n" + sources[path]
    if text.count(b"\n" + before) != 1:
        fail(f"{place}: {path} has the block's lines {text.count(before)} times, expected once")
    sources[path] = text.replace(b"\n" + before, b"\n" + after)[1:]


def follow(root: Path, path: Path, most: int, sources: dict[str, bytes]) -> None:
    """Carries out the steps of a document, which are no more than promised."""
    document = read_document(root, path)
    steps = [number for number, line in document.prose if re.match(r"## \d+\. ", line)]
    blocks = [block for block in document.blocks if block.info.startswith("diff ")]
    if len(steps) > most:
        fail(f"{path}: {len(steps)} places, at most {most} are promised")
    for step, end in zip(steps, [*steps[1:], sys.maxsize]):
        shown = {block.info.removeprefix("diff ") for block in blocks if step < block.line < end}
        if len({Path(file).with_suffix("") for file in shown}) != 1:
            fail(f"{path}:{step}: the step shows {sorted(shown)}, expected one file, or a header and its source")
    for block in blocks:
        add(sources, block.info.removeprefix("diff "), block.lines, f"{path}:{block.line}")


def write_changed(sources: dict[str, bytes], folder: Path) -> None:
    """Makes the files of a folder these; those that are so already keep their times."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        if str(path.relative_to(folder)) not in sources:
            path.unlink()
    for name, text in sources.items():
        path = folder / name
        if path.exists() and path.read_bytes() == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        path.chmod(0o755 if text.startswith(b"#!") else 0o644)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(sys.argv[1]).resolve()
    sources = read_sources(root)
    for path, most in HOWTOS.items():
        follow(root, path, most, sources)
    write_changed(sources, Path(sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

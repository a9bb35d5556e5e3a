#!/usr/bin/env python3
"""Checks that no source of `src` and `tools` throws the value of a call away with a cast to void.

`Result` is [[nodiscard]]; such a cast is how an error gets lost all the same. Values that are only
advice to the system are excepted below, each by the name of its function.
Exits 1 after naming each offence.

usage: check_discards.py [ROOT]
"""

import re
from pathlib import Path

from lib import lint

# Whether the system follows the advice changes nothing, and unmapping what is mapped does not fail.
ADVICE = {"madvise", "malloc_trim", "munmap"}
CAST = re.compile(r"(?:\(void\)|\bstatic_cast<void>\(|\bstd::ignore\s*=)\s*([\w:.>-]+)\s*[({<]")


def discards(text: str) -> list[tuple[int, str]]:
    """The line and the function of each call whose value is thrown away."""
    found = []
    for match in CAST.finditer(text):
        name = re.split(r"[.:>]+", match[1])[-1]
        if name not in ADVICE:
            found.append((text.count("\n", 0, match.start()) + 1, name))
    return found


def check(root: Path) -> list[str]:
    return [f"{path.relative_to(root)}:{line}: the value of '{name}' is thrown away"
            for top in ("src", "tools") for path in sorted((root / top).rglob("*"))
            if path.suffix in {".cpp", ".hpp", ".h"}
            for line, name in discards(path.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    lint.main(check)

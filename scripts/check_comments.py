#!/usr/bin/env python3
"""Checks how sources and their comments begin.

A `.cpp` file begins with a `//` line that tells what the file computes or owns. A `///` comment begins with a verb
(`Returns ...`, `True if ...`) or a noun, not with a clause or a pronoun whose noun the reader has to guess.
Reports each offence with its repair and exits 1.

usage: check_comments.py [ROOT]
"""

import re
from pathlib import Path

from check_words import CODE, VISIBLE
from lib import lint

FOLDERS = ("src", "tools", "bench", "fuzz")
OPENINGS = {
    "What": "the noun, such as 'Result of ...' or 'Options for ...'",
    "Whether": "'True if ...'",
    "Of": "the noun, such as 'Strides of ...'",
    "Those": "the noun",
    "Its": "the noun",
    "The same": "'Like name(), ...'",
}
OPENING = re.compile(r"///<? *(" + "|".join(OPENINGS) + r")\b")


def problems_in(name: str, text: str) -> list[tuple[int, str]]:
    """The line and the description of each offence in one file."""
    found = []
    if name.endswith(".cpp") and not text.startswith("//"):
        found.append((1, "expected a first line '// ...' that tells what the file computes or owns"))
    end_of_comment = None
    for match in VISIBLE.finditer(text):
        comment = match[1] or ""
        if not comment.startswith("///"):
            continue
        is_continued = end_of_comment is not None and not text[end_of_comment:match.start()].strip()
        opening = OPENING.match(comment)
        if opening and not is_continued:
            found.append((text.count("\n", 0, match.start()) + 1,
                          f"a comment begins with '{opening[1]}', write: {OPENINGS[opening[1]]}"))
        end_of_comment = match.end()
    return found


def check(root: Path) -> list[str]:
    return [f"{name}:{line}: {problem}"
            for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.suffix in CODE
            for name in [path.relative_to(root).as_posix()]
            for line, problem in problems_in(name, path.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    lint.main(check)

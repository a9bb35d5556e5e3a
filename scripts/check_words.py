#!/usr/bin/env python3
"""Checks that comments, messages, help texts and documents avoid words that the project banned.

Each row of BANNED is a word or phrase that readers had to read twice, with the wording to use instead.
Matching ignores case and line breaks. In C++ sources, only comments and string literals are checked.
Reports each match with its replacement and exits 1.

usage: check_words.py [ROOT]
"""

import re
from pathlib import Path

from lib import lint

BANNED = {
    "sayable": "printable",
    "unheard": "ignored",
    "lookable": "that can be looked up",
    "is told": "receives, is notified of, or is distinguished from",
    "what lacks": "the missing noun, such as 'missing inputs'",
    "what dumps have none of": "types that never occur in dumps",
    "what is asked": "the requested noun, such as 'requested analyses'",
    "nobody knows": "unknown",
    "and no more": "at most, exactly, or stop after",
    "is not so": "the positive statement, such as 'differs'",
    "is no word": "is not a word, or must be quoted",
    "fits what it makes": "matches its own result",
    "is held to": "must satisfy",
    "stands in quotes": "must be quoted",
    "leads nowhere": "has no target",
    "two calls lead to": "is called twice",
    "without a word": "without a message",
    "says of itself": "declares",
    "is no news": "is expected",
    "are no news": "are expected",
    "what to type": "the options to add",
    "the options compute others": "the options change the outputs",
    "errors of it for findings": "its errors as warnings",
    "are no operands": "are not operands",
}

FOLDERS = ["bench", "docs", "fuzz", "grammar", "include", "scripts", "src", "testdata", "tests", "tools"]
CODE = {".cpp", ".hpp", ".h"}
TEXT = {".md", ".mir", ".test", ".out", ".err", ".txt", ".def", ".re", ".yy", ".py", ".sh", ".build", ""}
# Frozen files keep their text, and these two files quote the words.
EXEMPT = ("testdata/compatibility/", "scripts/check_words.py", "tests/lint/check_words_test.py")

# What a reader sees of a C++ source; character literals come first, because they may contain quotes.
VISIBLE = re.compile(r"""'(?:\\.|[^'\\\n])'|(//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\2"|"(?:\\.|[^"\\\n])*")""",
                     re.S)
# Between two words of a phrase: white space, comment markers, and quotes of adjacent literals.
GAP = r"[\s/#*\"]+"
PHRASES = {phrase: re.compile(r"\b" + GAP.join(map(re.escape, phrase.split())) + r"\b", re.I)
           for phrase in BANNED}


def visible_text(text: str) -> str:
    """The comments and string literals of a C++ source at their positions; blanks elsewhere."""
    blank = re.sub(r"[^\n]", " ", text)
    pieces, end = [], 0
    for match in VISIBLE.finditer(text):
        if match[1] is None:
            continue
        pieces += [blank[end:match.start()], match[0]]
        end = match.end()
    return "".join(pieces) + blank[end:]


def problems_in(name: str, text: str) -> list[tuple[int, str]]:
    """The line and the description of each banned phrase in one file."""
    if Path(name).suffix in CODE:
        text = visible_text(text)
    return sorted((text.count("\n", 0, match.start()) + 1,
                   f"banned phrase '{phrase}', write: {BANNED[phrase]}")
                  for phrase, pattern in PHRASES.items() for match in pattern.finditer(text))


def files(root: Path) -> list[Path]:
    found = list(root.glob("*.md"))
    for folder in FOLDERS:
        found += (path for path in (root / folder).rglob("*")
                  if path.is_file() and path.suffix in CODE | TEXT)
    return sorted(found)


def check(root: Path) -> list[str]:
    problems = []
    for path in files(root):
        name = path.relative_to(root).as_posix()
        if name.startswith(EXEMPT):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        problems += [f"{name}:{line}: {problem}" for line, problem in problems_in(name, text)]
    return problems


if __name__ == "__main__":
    lint.main(check)

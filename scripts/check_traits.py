#!/usr/bin/env python3
"""Checks that code reads each trait and effect that rows can have.

Rows, the words of declared ops and the enumerations themselves do not count: a fact that only they name
has no effect. Exits 1 after naming each such fact.

usage: check_traits.py [ROOT]
"""

import re
from pathlib import Path

from lib import lint

ENUMERATIONS = Path("include/mir/context.hpp")
FACTS = re.compile(r"enum class (Trait|Effect) : [\w:]+ \{(.*?)\n\};", re.S)
NAME = re.compile(r"^\s*(k\w+) =", re.M)
USE = re.compile(r"\b(Trait|Effect)::(k\w+)")
ROWS = re.compile(r"src/dialects/(linalg/.*|\w+_ops\.cpp)|src/declare/.*")


def check(root: Path) -> list[str]:
    facts = {f"{kind}::{name}" for kind, body in FACTS.findall((root / ENUMERATIONS).read_text(encoding="utf-8"))
             for name in NAME.findall(body) if name != "kNone"}
    read = set()
    for top in ("src", "tools"):
        for path in (root / top).rglob("*.[ch]pp"):
            if not ROWS.fullmatch(path.relative_to(root).as_posix()):
                read |= {"::".join(use) for use in USE.findall(path.read_text(encoding="utf-8"))}
    return [f"{ENUMERATIONS}: nothing reads '{fact}'" for fact in sorted(facts - read)]


if __name__ == "__main__":
    lint.main(check)

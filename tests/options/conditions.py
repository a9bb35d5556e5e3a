#!/usr/bin/env python3
"""Every condition of an option names an option of the same tool, and a word that this option takes.

usage: conditions.py TOOLS
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import tool_rows


def problems_of(rows):
    for name, row in rows.items():
        for condition in row["needs"] + row["excludes"]:
            other, _, word = condition.partition("=")
            if condition.startswith("pass:"):
                continue
            if other not in rows:
                yield f"--{name}: no option is called --{other}"
            elif word and not re.search(rf"\b{re.escape(word)}\b", rows[other]["help"]):
                yield f"--{name}: --{other} does not take '{word}'"


def main(tools):
    problems, checked = [], 0
    for tool in tool_rows.TOOLS:
        text = subprocess.run([tools / tool, "--help-as=json"], capture_output=True, check=True).stdout
        rows = {row["name"]: row for row in json.loads(text)["options"]}
        checked += sum(len(row["needs"]) + len(row["excludes"]) for row in rows.values())
        problems += [f"{tool} {problem}" for problem in problems_of(rows)]
    print(*problems, f"{checked} conditions, {len(problems)} problems", sep="\n")
    return 1 if problems or checked < 30 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))

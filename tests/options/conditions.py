#!/usr/bin/env python3
"""Every condition of an option names an option of the same tool, and a word that this option takes. Names that options
and passes do not have lead to options and passes that exist.

usage: conditions.py TOOLS
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import tool_rows

SOURCES = Path(__file__).resolve().parents[2]


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


def other_name_problems(rows):
    """The list of tools/common/other_names.cpp: `{"mllm-opt", "dump-dir", "--dump"}`."""
    text = (SOURCES / "tools/common/other_names.cpp").read_text()
    for tool, name, use in re.findall(r'\{"([\w-]*)",\s*"([\w=-]+)",\s*"([^"]+)"\}', text):
        of_tools = [tool] if tool else [each for each in rows if each not in ("mllm-lsp", "mllm-weights")]
        words = use.split()
        user = words.pop(0) if words[0].startswith("mllm-") else None
        for each in of_tools:
            if name in rows[each]:
                yield f"{each} has --{name}"
            for word in words:
                option, _, argument = word.partition("=")
                known = rows[user or each].get(option[2:])
                if option.startswith("--") and (known is None or (argument and known["argument"] is None)):
                    if tool:
                        yield f"{each} --{name}: no option is used as {word}"


def foreign_pass_problems(tools):
    text = (SOURCES / "src/passes/pipeline/foreign_passes.cpp").read_text()
    listed = subprocess.run([tools / "mllm-opt", "--list-passes"], capture_output=True, check=True, text=True).stdout
    passes = {line.split()[0] for line in listed.splitlines() if line.strip()}
    for name, here in re.findall(r'\{"([\w-]+)", "([\w-]+)"\}', text):
        if name in passes:
            yield f"'{name}' is a pass"
        if here not in passes:
            yield f"'{name}': no pass is called '{here}'"


def main(tools):
    problems, checked, all_rows = [], 0, {}
    for tool in tool_rows.TOOLS:
        text = subprocess.run([tools / tool, "--help-as=json"], capture_output=True, check=True).stdout
        rows = {row["name"]: row for row in json.loads(text)["options"]}
        all_rows[tool] = rows
        checked += sum(len(row["needs"]) + len(row["excludes"]) for row in rows.values())
        problems += [f"{tool} {problem}" for problem in problems_of(rows)]
    problems += other_name_problems(all_rows)
    problems += foreign_pass_problems(tools)
    print(*problems, f"{checked} conditions, {len(problems)} problems", sep="\n")
    return 1 if problems or checked < 30 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))

#!/usr/bin/env python3
"""Writes the files of editors/ that follow from the rows of ops and types, or compares them.

usage: editor_files.py [--check] TOOLS

TOOLS is the folder of the tools. With --check, nothing is written, and the status is 1 if a file differs.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EDITORS = ROOT / "editors"
sys.path.insert(0, str(EDITORS / "generator"))

import emacs  # noqa: E402
import kate  # noqa: E402
import rules  # noqa: E402
import textmate  # noqa: E402
import vim  # noqa: E402


def read_keywords(tools):
    lines = subprocess.run([Path(tools) / "mllm-parse", "--list-keywords"], capture_output=True, check=True, text=True)
    keywords = {}
    for line in lines.stdout.splitlines():
        kind, word = line.split(" ", 1)
        keywords.setdefault(kind, []).append(word)
    return keywords


def files(keywords):
    contexts = rules.contexts(keywords)
    return {
        "vscode/syntaxes/mir.tmLanguage.json": textmate.grammar(contexts),
        "bat/mir.sublime-syntax": textmate.sublime(contexts),
        "kate/mir.xml": kate.definition(contexts),
        "vim/syntax/mir.vim": vim.syntax_file(contexts),
        "emacs/mir-words.el": emacs.words(keywords),
    }


def main(arguments):
    check = arguments[:1] == ["--check"]
    if len(arguments) != 1 + check:
        sys.exit(__doc__)
    different = 0
    for name, text in files(read_keywords(arguments[-1])).items():
        path = EDITORS / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        different += 1
        if check:
            print(f"editors/{name} is not what scripts/editor_files.py writes")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    sys.exit(1 if check and different else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
